import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { accountOf, foreignOrganizationOf, useSessionState } from '../session/index.ts';
import { clearSnapshot, saveSnapshot } from './snapshot.ts';

/** Pause after which changes are stored together. */
const SAVE_AFTER_MS = 2_000;

/** Stores the content of the account's pages as it changes, and deletes it when the session ends. */
export const useSnapshot = (): void => {
  const state = useSessionState();
  const account = accountOf(state);
  const queries = useQueryClient();
  useEffect(() => {
    if (!('caches' in window)) return undefined;
    if (account === undefined) {
      void clearSnapshot().catch(() => undefined);
      return undefined;
    }
    // What is stored belongs to the person.
    if (foreignOrganizationOf(account) !== undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A browser without storage continues without a snapshot.
    const save = (): void => void saveSnapshot(account, queries).catch(() => undefined);
    const unsubscribe = queries.getQueryCache().subscribe(({ type }) => {
      if (type !== 'updated') return;
      clearTimeout(timer);
      timer = setTimeout(save, SAVE_AFTER_MS);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [account, queries]);
};

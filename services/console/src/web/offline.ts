import type { Account } from '@svc/contracts';
import { type DehydratedState, dehydrate, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { OperationName } from './api/index.ts';
import { accountOf, foreignOrganizationOf, useSessionState } from './session/index.ts';
import { trustedUrl } from './trusted-url.ts';

/** Registers the service worker, which stores the console's files, once the first page is complete. */
export const registerWorker = (): void => {
  if (!('serviceWorker' in navigator)) return;
  const register = (): void => {
    // Without it, the console works but opens only with a connection.
    navigator.serviceWorker.register(trustedUrl('/service-worker.js')).catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else window.addEventListener('load', register, { once: true });
};

/** Last content of the pages, shown again without a connection. */
export interface Snapshot {
  readonly account: Account;
  readonly queries: DehydratedState;
}

const CACHE_NAME = 'svc-snapshot';
/** Name of the entry. No service answers this address. */
const ENTRY = '/offline-snapshot';
const BYTES_MAX = 1024 * 1024;

/** Responses that may be stored: none contains a secret, the content of a request or a person's other devices. */
const STORED: ReadonlySet<string> = new Set<OperationName>([
  'getSubscription',
  'getSubscriptionUsage',
  'getUsageHistory',
  'listPlans',
  'listPrices',
  'listConnections',
  'listKeys',
  'getWallet',
  'getAutoTopUp',
  'listWalletTransactions',
  'listInvoices',
  'getExtraUsage',
  'getAlertSettings',
  'summarizeGatewayUsage',
  'listGatewayUsage',
  'listApps',
]);

/** Stores the content of an account's pages, replacing the earlier one. */
const saveSnapshot = async (account: Account, queries: QueryClient): Promise<void> => {
  const state = dehydrate(queries, {
    shouldDehydrateQuery: ({ queryKey, state: { status } }) => status === 'success' && STORED.has(String(queryKey[0])),
    shouldDehydrateMutation: () => false,
  });
  const text = JSON.stringify({ account, queries: state } satisfies Snapshot);
  if (text.length > BYTES_MAX) return await clearSnapshot();
  const cache = await caches.open(CACHE_NAME);
  await cache.put(ENTRY, new Response(text, { headers: { 'Content-Type': 'application/json' } }));
};

/** Returns the stored content, if any. */
export const readSnapshot = async (): Promise<Snapshot | undefined> => {
  if (!('caches' in window)) return undefined;
  const stored = await caches.match(ENTRY, { cacheName: CACHE_NAME });
  return await stored?.json();
};

/** Deletes stored content of other accounts. */
export const keepSnapshotOf = async (account: Account | undefined): Promise<void> => {
  const stored = await readSnapshot();
  if (stored !== undefined && stored.account.svc_user_id !== account?.svc_user_id) await clearSnapshot();
};

/** Deletes the stored content. */
const clearSnapshot = async (): Promise<void> => {
  if ('caches' in window) await caches.delete(CACHE_NAME);
};

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

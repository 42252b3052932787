import { onlineManager, type Query, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { ApiError } from './api-error.ts';

/** Interval between attempts while the service cannot be reached. */
const RETRY_MS = 10_000;

/** Returns true while the browser has a network. */
export const useIsOnline = (): boolean =>
  useSyncExternalStore(
    useCallback((listener: () => void) => onlineManager.subscribe(listener), []),
    () => onlineManager.isOnline(),
  );

/** State of a page that is shown without a connection to the service. */
export interface Outage {
  /** Time at which the oldest data on the page were read; undefined if there are none. */
  readonly readAt: number | undefined;
}

/** Returns an outage while the service cannot be reached, and retries the queries of the page. */
export const useOutage = (): Outage | undefined => {
  const queries = useQueryClient();
  const isOnline = useIsOnline();
  const cache = queries.getQueryCache();
  const isCutOff = useSyncExternalStore(
    useCallback((listener: () => void) => cache.subscribe(listener), [cache]),
    () => !onlineManager.isOnline() || cache.findAll({ type: 'active' }).some(isUnanswered),
  );
  useEffect(() => {
    if (!isCutOff || !isOnline) return undefined;
    const retry = (): void =>
      void queries.refetchQueries({ type: 'active', predicate: isUnanswered }, { cancelRefetch: false });
    const timer = setInterval(retry, RETRY_MS);
    return () => clearInterval(timer);
  }, [isCutOff, isOnline, queries]);
  useEffect(() => {
    if (isOnline) void queries.invalidateQueries({ predicate: isUnanswered });
  }, [isOnline, queries]);
  if (!isCutOff) return undefined;
  const times = cache
    .findAll({ type: 'active' })
    .map(({ state }) => state.dataUpdatedAt)
    .filter((time) => time > 0);
  return { readAt: times.length === 0 ? undefined : Math.min(...times) };
};

/** Returns true if the last attempt reached no service. A retry in progress changes nothing yet. */
const isUnanswered = ({ state }: Query): boolean => {
  const error = state.error ?? state.fetchFailureReason;
  return error instanceof ApiError && error.isTransient;
};

import type { Account } from '@svc/contracts';
import { type DehydratedState, dehydrate, type QueryClient } from '@tanstack/react-query';
import type { OperationName } from '../api/index.ts';

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
export const saveSnapshot = async (account: Account, queries: QueryClient): Promise<void> => {
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
export const clearSnapshot = async (): Promise<void> => {
  if ('caches' in window) await caches.delete(CACHE_NAME);
};

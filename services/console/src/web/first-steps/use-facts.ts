import { type Answer, type ItemOf, isAwaited, useApiQuery } from '../api/index.ts';
import { hasEnded } from '../subscription.tsx';
import type { Facts, Path } from './paths.ts';

/** Interval of checks for a first use while the page is open. */
const WATCH_MS = 3_000;
/** As the chart on the overview reads, so that both share one answer. */
const HISTORY_DAYS = 60;

/** Data for all paths, and the paths that this release offers. */
export interface KnownFacts {
  readonly facts: Facts;
  readonly paths: readonly Path[];
  /** App that the steps of a business link to. */
  readonly clientId: string | undefined;
  readonly newestRequest: ItemOf<'listGatewayUsage'> | undefined;
}

/** Reads the progress; undefined until it is known. */
export const useFacts = ({
  isBusiness,
  isEnabled,
}: {
  isBusiness: boolean;
  isEnabled: boolean;
}): KnownFacts | undefined => {
  const person = usePersonFacts(isEnabled);
  const gateway = useGatewayFacts(isEnabled);
  const business = useBusinessFacts(isBusiness && isEnabled);
  if (person.isAwaited || gateway.isAwaited || business.isAwaited) return undefined;
  const paths: Path[] = [
    ...(isBusiness && !business.isMissing ? ['business' as const] : []),
    ...(person.isMissing ? [] : ['person' as const]),
    ...(gateway.isMissing ? [] : ['gateway' as const]),
  ];
  return {
    facts: { ...person.facts, ...gateway.facts, ...business.facts, ...ownerFacts(business.apps, person) },
    paths,
    clientId: business.clientId,
    newestRequest: gateway.newestRequest,
  };
};

const hasUse = ({ data }: Answer<'getUsageHistory'>): boolean => data.some(({ requests }) => requests > 0);

const usePersonFacts = (enabled: boolean) => {
  const subscription = useApiQuery('getSubscription', {}, { enabled });
  const connections = useApiQuery('listConnections', {}, { enabled });
  const isConnected = (connections.data?.data.length ?? 0) > 0;
  const history = useApiQuery(
    'getUsageHistory',
    { query: { days: HISTORY_DAYS } },
    {
      enabled,
      refetchInterval: (answer) => (isConnected && answer !== undefined && !hasUse(answer) ? WATCH_MS : false),
    },
  );
  const current = subscription.data?.subscription ?? null;
  const connected = connections.data?.data ?? [];
  return {
    isAwaited: isAwaited(subscription) || isAwaited(connections) || isAwaited(history),
    isMissing: subscription.data === undefined || connections.data === undefined || history.data === undefined,
    connected: new Set(connected.map(({ client_id }) => client_id)),
    used: new Set(history.data?.data.flatMap(({ apps }) => apps.map(({ client_id }) => client_id))),
    facts: {
      hasPlan: current !== null && !hasEnded(current.status),
      hasConnection: connected.length > 0,
      hasAnswer: history.data !== undefined && hasUse(history.data),
    },
  };
};

const useGatewayFacts = (enabled: boolean) => {
  const wallet = useApiQuery('getWallet', {}, { enabled });
  const keys = useApiQuery('listKeys', {}, { enabled });
  const hasKey = (keys.data?.data.length ?? 0) > 0;
  const requests = useApiQuery(
    'listGatewayUsage',
    { query: { limit: 1 } },
    { enabled, refetchInterval: (answer) => (hasKey && answer?.data.length === 0 ? WATCH_MS : false) },
  );
  const newestRequest = requests.data?.data[0];
  const hasRequest = newestRequest !== undefined;
  return {
    isAwaited: isAwaited(wallet) || isAwaited(keys) || isAwaited(requests),
    isMissing: wallet.data === undefined || keys.data === undefined || requests.data === undefined,
    newestRequest,
    facts: { hasMoney: hasRequest || (wallet.data?.balance_micros ?? 0) > 0, hasKey, hasRequest },
  };
};

const useBusinessFacts = (enabled: boolean) => {
  const apps = useApiQuery('listApps', {}, { enabled });
  const app = apps.data?.data[0];
  const clientId = app?.client_id;
  const events = useApiQuery(
    'listWebhookEvents',
    { params: { client_id: clientId ?? '' }, query: { limit: 1, status: 'delivered' } },
    { enabled: enabled && app !== undefined },
  );
  return {
    isAwaited: enabled && (isAwaited(apps) || (app !== undefined && isAwaited(events))),
    isMissing: apps.data === undefined,
    apps: apps.data?.data ?? [],
    clientId,
    facts: {
      hasApp: app !== undefined,
      hasWebhook: events.data?.generation != null,
      hasEvent: (events.data?.data.length ?? 0) > 0,
    },
  };
};

/** Tells the owner's own connections from those of the app's users. */
const ownerFacts = (
  apps: readonly ItemOf<'listApps'>[],
  { connected, used }: { connected: ReadonlySet<string>; used: ReadonlySet<string> },
): Pick<Facts, 'isTried' | 'isLive'> => ({
  isTried: apps.some(({ client_id }) => used.has(client_id)),
  isLive: apps.some(({ client_id, connections_count: count }) => count > (connected.has(client_id) ? 1 : 0)),
});

import { type ItemOf, isAwaited, useApiQuery } from '../api/index.ts';
import { hasEnded } from '../subscription/index.ts';
import type { Facts, Path } from './paths.ts';

/** Interval of checks for a first use while the page is open. */
const WATCH_MS = 3_000;

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
    facts: { ...person.facts, ...gateway.facts, ...business.facts },
    paths,
    clientId: business.clientId,
    newestRequest: gateway.newestRequest,
  };
};

const usePersonFacts = (enabled: boolean) => {
  const subscription = useApiQuery('getSubscription', {}, { enabled });
  const connections = useApiQuery(
    'listConnections',
    {},
    {
      enabled,
      refetchInterval: (answer) =>
        answer?.data.length === 0 || answer?.data.some(({ last_used_at }) => last_used_at !== null) ? false : WATCH_MS,
    },
  );
  const current = subscription.data?.subscription ?? null;
  const connected = connections.data?.data ?? [];
  return {
    isAwaited: isAwaited(subscription) || isAwaited(connections),
    isMissing: subscription.data === undefined || connections.data === undefined,
    facts: {
      hasPlan: current !== null && !hasEnded(current.status),
      hasConnection: connected.length > 0,
      hasAnswer: connected.some(({ last_used_at }) => last_used_at !== null),
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
    { params: { client_id: clientId ?? '' }, query: { limit: 1 } },
    { enabled: enabled && app !== undefined },
  );
  return {
    isAwaited: enabled && (isAwaited(apps) || (app !== undefined && isAwaited(events))),
    isMissing: apps.data === undefined,
    clientId,
    facts: {
      hasApp: app !== undefined,
      hasWebhook: events.data?.generation != null,
      hasEvent: (events.data?.data.length ?? 0) > 0,
      isLive: apps.data?.data.some(({ connections_count }) => connections_count > 0) ?? false,
    },
  };
};

import { type ItemOf, useApiQuery } from '../api/index.ts';
import { hasEnded } from '../plans/index.ts';
import type { Facts, Path } from './paths.ts';

/** Interval at which a first use is looked for while the page is open. */
const WATCH_MS = 3_000;

/** Facts for all paths, with the paths that this release offers. */
export interface KnownFacts {
  readonly facts: Facts;
  readonly paths: readonly Path[];
  /** The app that the steps of a business lead to. */
  readonly clientId: string | undefined;
  readonly newestRequest: ItemOf<'listGatewayUsage'> | undefined;
}

/** Reads what is done already; undefined while that is not known. */
export const useFacts = (isBusiness: boolean): KnownFacts | undefined => {
  const person = usePersonFacts();
  const gateway = useGatewayFacts();
  const business = useBusinessFacts(isBusiness);
  if (person.isPending || gateway.isPending || business.isPending) return undefined;
  const paths: Path[] = [
    ...(isBusiness && !business.isError ? ['business' as const] : []),
    ...(person.isError ? [] : ['person' as const]),
    ...(gateway.isError ? [] : ['gateway' as const]),
  ];
  return {
    facts: { ...person.facts, ...gateway.facts, ...business.facts },
    paths,
    clientId: business.clientId,
    newestRequest: gateway.newestRequest,
  };
};

const usePersonFacts = () => {
  const subscription = useApiQuery('getSubscription', {});
  const connections = useApiQuery(
    'listConnections',
    {},
    {
      refetchInterval: (answer) =>
        answer?.data.length === 0 || answer?.data.some(({ last_used_at }) => last_used_at !== null) ? false : WATCH_MS,
    },
  );
  const current = subscription.data?.subscription ?? null;
  const connected = connections.data?.data ?? [];
  return {
    isPending: subscription.isPending || connections.isPending,
    isError: subscription.isError || connections.isError,
    facts: {
      hasPlan: current !== null && !hasEnded(current.status),
      hasConnection: connected.length > 0,
      hasAnswer: connected.some(({ last_used_at }) => last_used_at !== null),
    },
  };
};

const useGatewayFacts = () => {
  const wallet = useApiQuery('getWallet', {});
  const keys = useApiQuery('listKeys', {});
  const hasKey = (keys.data?.data.length ?? 0) > 0;
  const requests = useApiQuery(
    'listGatewayUsage',
    { query: { limit: 1 } },
    { refetchInterval: (answer) => (hasKey && answer?.data.length === 0 ? WATCH_MS : false) },
  );
  const newestRequest = requests.data?.data[0];
  const hasRequest = newestRequest !== undefined;
  return {
    isPending: wallet.isPending || keys.isPending || requests.isPending,
    isError: wallet.isError || keys.isError || requests.isError,
    newestRequest,
    facts: { hasMoney: hasRequest || (wallet.data?.balance_micros ?? 0) > 0, hasKey, hasRequest },
  };
};

const useBusinessFacts = (isBusiness: boolean) => {
  const apps = useApiQuery('listApps', {}, { enabled: isBusiness });
  const app = apps.data?.data[0];
  const clientId = app?.client_id;
  const params = { client_id: clientId ?? '' };
  // Refused with 404 where there is none.
  const webhook = useApiQuery('getWebhookConfiguration', { params }, { enabled: app !== undefined });
  const hasWebhook = webhook.isSuccess;
  const events = useApiQuery('listWebhookEvents', { params, query: { limit: 1 } }, { enabled: hasWebhook });
  return {
    isPending: isBusiness && (apps.isPending || (app !== undefined && webhook.isPending)),
    isError: apps.isError,
    clientId,
    facts: {
      hasApp: app !== undefined,
      hasWebhook,
      hasEvent: (events.data?.data.length ?? 0) > 0,
      isLive: apps.data?.data.some(({ connections_count }) => connections_count > 0) ?? false,
    },
  };
};

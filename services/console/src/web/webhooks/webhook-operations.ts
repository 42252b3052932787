import type { WebhookEventStatus } from '@svc/contracts';
import { type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { type Answer, ApiError, type ItemOf, useApi } from '../api/index.ts';

const APP = {
  configure: 'configureWebhook',
  configuration: 'getWebhookConfiguration',
  rotate: 'rotateWebhookSecret',
  test: 'testWebhook',
  events: 'listWebhookEvents',
  event: 'getWebhookEvent',
  deliverNow: 'deliverWebhookEventNow',
  recover: 'recoverWebhookEvent',
} as const;

type Operations = typeof APP;

const ACCOUNT = {
  configure: 'configureAccountWebhook',
  configuration: 'getAccountWebhook',
  rotate: 'rotateAccountWebhookSecret',
  test: 'testAccountWebhook',
  events: 'listAccountEvents',
  event: 'getAccountEvent',
  deliverNow: 'deliverAccountEventNow',
  recover: 'recoverAccountEvent',
} as const satisfies Record<keyof Operations, string>;

export interface WebhookOperations {
  readonly operations: Operations;
  readonly isAccount: boolean;
}

const APP_WEBHOOK: WebhookOperations = { operations: APP, isAccount: false };

/**
 * An account's routes take and answer what those of an app do, but for the names of its id and its events. Their paths have no
 * `client_id`, so that parameter goes unused.
 */
export const ACCOUNT_WEBHOOK: WebhookOperations = { operations: ACCOUNT as unknown as Operations, isAccount: true };

/** Says whose webhook the components show. */
export const WebhookContext = createContext(APP_WEBHOOK);

export const useWebhookOperations = (): WebhookOperations => use(WebhookContext);

/** Quotes a text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a command that sends an event again, signed with the secret in `$SIGNING_SECRET`, which the pages do not know. */
export const curlSample = ({ url, eventId, payload }: { url: string; eventId: string; payload: string }): string =>
  `t=$(date +%s)
body=${quote(payload)}
v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r | cut -d ' ' -f 1)
curl ${quote(url)} -H 'content-type: application/json' -H ${quote(`webhook-id: ${eventId}`)} \\
  -H "x-svc-signature: t=$t,v1=$v1" --data-raw "$body"`;

/** The configuration of a webhook as it is. */
export type Configuration = Answer<'getWebhookConfiguration'>;

/** A lane blocks and recovers by itself; without a webhook there is none to follow. */
const REFRESH_MS = 10_000;

/**
 * Reads the webhook of an app, or of the account, whose id then stands for the app's. Null where there is none, which is an answer
 * and not a failure.
 */
export const useConfiguration = (clientId: string): UseQueryResult<Configuration | null, Error> => {
  const { call } = useApi();
  const { operations } = useWebhookOperations();
  return useQuery<Configuration | null, Error>({
    queryKey: [operations.configuration, clientId],
    queryFn: async ({ signal }) => {
      try {
        const configuration = await call(operations.configuration, { params: { client_id: clientId } }, signal);
        return { ...configuration, client_id: clientId };
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data === null ? false : REFRESH_MS),
  });
};

/** A stored event and what became of it. */
export type WebhookEventRecord = ItemOf<'listWebhookEvents'>;

const PAGE_EVENTS = 50;
/** Time between two looks at what changes by itself. */
export const FOLLOW_MS = 3_000;

/** Something about this event will change by itself. */
export const isUnderWay = ({ status }: WebhookEventRecord): boolean => status === 'queued' || status === 'delivering';

/** Events of an app, newest first; `status` undefined for all. While one is under way, they are read again every few seconds. */
export const useWebhookEvents = (clientId: string, status: WebhookEventStatus | undefined) => {
  const { call } = useApi();
  const { operations } = useWebhookOperations();
  return useInfiniteQuery({
    queryKey: [operations.events, clientId, status],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call(
        operations.events,
        { params: { client_id: clientId }, query: { limit: PAGE_EVENTS, after: pageParam, status } },
        signal,
      ),
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.event_id : undefined),
    staleTime: 0,
    refetchInterval: ({ state }) => {
      const events = state.data?.pages.flatMap((page) => page.data) ?? [];
      return events.some(isUnderWay) ? FOLLOW_MS : false;
    },
  });
};

import type { WebhookEventStatus } from '@svc/contracts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type ItemOf, useApi } from '../api/index.ts';
import { useWebhookOperations } from './webhook-operations.ts';

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

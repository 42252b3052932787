import type { ReactElement } from 'react';
import { ApiError, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { EmptyState, ErrorNotice, Loading } from '../ui/index.ts';
import { EventsTable } from './events-table.tsx';
import { FOLLOW_MS, isUnderWay, type WebhookEventRecord } from './use-webhook-events.ts';

/** Form of a whole id, which may still be half typed. */
const WHOLE_ID = /^evt_[0-9a-z]{26}$/;

/** The event with an id, if it is one of this app's. */
export const FoundEvent = ({
  clientId,
  eventId,
  onSkip,
}: {
  clientId: string;
  eventId: string;
  onSkip: (event: WebhookEventRecord) => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const isWhole = WHOLE_ID.test(eventId);
  const { data, error, refetch } = useApiQuery(
    'getWebhookEvent',
    { params: { client_id: clientId, event_id: eventId } },
    {
      enabled: isWhole,
      staleTime: 0,
      refetchInterval: (event) => event !== undefined && isUnderWay(event) && FOLLOW_MS,
    },
  );
  if (data !== undefined) return <EventsTable clientId={clientId} events={[data]} onSkip={onSkip} />;
  if (!isWhole || (error instanceof ApiError && error.status === 404)) return <EmptyState text={webhooks.noneWithId} />;
  return error === null ? <Loading lines={2} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
};

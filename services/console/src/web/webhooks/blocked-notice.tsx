import { type ReactNode, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ErrorNotice, Notice, Time } from '../ui/index.ts';
import { EventActions } from './event-actions.tsx';
import type { Configuration } from './use-configuration.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';
import { useWebhookOperations } from './webhook-operations.ts';

/** Says which failed event holds up the others and since when, and offers to recover it. */
export const BlockedNotice = ({
  configuration,
  events,
  onSkip,
}: {
  configuration: Configuration;
  events: readonly WebhookEventRecord[];
  onSkip: (event: WebhookEventRecord) => void;
}): ReactNode => {
  const { webhooks } = useI18n().messages;
  const [failure, setFailure] = useState<Error>();
  const { operations } = useWebhookOperations();
  const { client_id: clientId } = configuration;
  // The list is newer than the configuration while it is followed.
  const listed = events.find(({ status }) => status === 'failed');
  const eventId = listed?.event_id ?? configuration.blocked_by_event_id ?? '';
  const read = useApiQuery(
    operations.event,
    { params: { client_id: clientId, event_id: eventId } },
    { enabled: eventId !== '' && listed === undefined },
  );
  const blocking = listed ?? read.data;
  if (blocking?.status !== 'failed') return null;
  const since = blocking.last_attempt?.at;
  return (
    <Notice tone="bad" title={webhooks.blockedTitle}>
      <p>{webhooks.blockedBy(blocking.sequence, blocking.event)}</p>
      {configuration.paused_at !== null && <p>{webhooks.paused}</p>}
      {since !== undefined && (
        <p>
          {webhooks.waitingSince} <Time at={since} exact /> (<Time at={since} />)
        </p>
      )}
      {listed === undefined && (
        <EventActions clientId={clientId} event={blocking} onSkip={() => onSkip(blocking)} onFailure={setFailure} />
      )}
      {failure !== undefined && <ErrorNotice error={failure} />}
    </Notice>
  );
};

import type { WebhookEventStatus } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Badge, Button, ErrorNotice, Table, Time, type Tone, useToast } from '../ui/index.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';

const ATTEMPTS_MAX = 8;

const TONES: Readonly<Record<WebhookEventStatus, Tone>> = {
  queued: 'neutral',
  delivering: 'neutral',
  delivered: 'good',
  failed: 'bad',
  skipped: 'warn',
  cancelled: 'neutral',
};

/** Events with their state, attempts, next and last attempt; a failed one can be retried or skipped. */
export const EventsTable = ({
  clientId,
  events,
  onSkip,
}: {
  clientId: string;
  events: readonly WebhookEventRecord[];
  onSkip: (event: WebhookEventRecord) => void;
}): ReactElement => {
  const { webhooks, common } = useI18n().messages;
  const { columns } = webhooks;
  return (
    <Table
      label={webhooks.events}
      rows={events}
      keyOf={(event) => event.event_id}
      columns={[
        { title: columns.sequence, isHeader: true, render: (event) => event.sequence },
        { title: columns.event, render: (event) => <EventName event={event} /> },
        {
          title: columns.status,
          render: ({ status }) => <Badge tone={TONES[status]}>{webhooks.statuses[status]}</Badge>,
        },
        { title: columns.attempts, render: ({ attempts }) => webhooks.attempts(attempts, ATTEMPTS_MAX) },
        {
          title: columns.next,
          render: ({ next_attempt_at, status }) => {
            if (next_attempt_at !== null) return <Time at={next_attempt_at} />;
            return status === 'queued' ? webhooks.waits : common.none;
          },
        },
        { title: columns.last, render: (event) => <LastAttempt event={event} /> },
        {
          title: columns.actions,
          isAction: true,
          render: (event) =>
            event.status === 'failed' && <Recovery clientId={clientId} event={event} onSkip={() => onSkip(event)} />,
        },
      ]}
    />
  );
};

const EventName = ({ event }: { event: WebhookEventRecord }): ReactElement => (
  <span className="event-name">
    <code>{event.event}</code>
    <span className="hint">{event.event_id}</span>
  </span>
);

const LastAttempt = ({ event }: { event: WebhookEventRecord }): ReactElement => {
  const { messages, formats } = useI18n();
  const { webhooks, common } = messages;
  const last = event.last_attempt;
  if (last === null) return <>{common.none}</>;
  const duration = formats.duration(last.duration_ms);
  const reason = last.error === null ? '' : (webhooks.reasons[last.error] ?? last.error);
  return (
    <span className="event-name">
      <Time at={last.at} />
      <span className="hint">
        {last.status_code === null
          ? webhooks.failedWith(reason, duration)
          : webhooks.answered(last.status_code, duration)}
      </span>
    </span>
  );
};

const Recovery = ({
  clientId,
  event,
  onSkip,
}: {
  clientId: string;
  event: WebhookEventRecord;
  onSkip: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const recover = useApiMutation('recoverWebhookEvent', {
    refreshes: ['listWebhookEvents', 'getWebhookConfiguration'],
    onDone: () => toast(webhooks.retried),
  });
  const params = { client_id: clientId, event_id: event.event_id };
  return (
    <div className="button-pair">
      <Button
        small
        variant="primary"
        busyLabel={recover.isPending ? webhooks.retrying : undefined}
        aria-label={webhooks.retryEvent(event.sequence)}
        onClick={() => recover.mutate({ params, body: { action: 'retry' } })}
      >
        {webhooks.retry}
      </Button>
      <Button small aria-label={webhooks.skipEvent(event.sequence)} onClick={onSkip}>
        {webhooks.skip}
      </Button>
      {recover.isError && <ErrorNotice error={recover.error} />}
    </div>
  );
};

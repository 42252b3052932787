import type { WebhookEventStatus } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Badge, Button, Table, Time, type Tone } from '../ui/index.ts';
import { AttemptOutcome } from './attempt-outcome.tsx';
import { ATTEMPTS_MAX, attemptsOfRound } from './attempts-of-round.ts';
import { EventActions } from './event-actions.tsx';
import { EventDetails } from './event-details.tsx';
import type { WebhookEventRecord } from './use-webhook-events.ts';

const TONES: Readonly<Record<WebhookEventStatus, Tone>> = {
  queued: 'neutral',
  delivering: 'neutral',
  delivered: 'good',
  failed: 'bad',
  skipped: 'warn',
  cancelled: 'neutral',
};

/** Events with their state, attempts and payload. */
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
  const [openId, setOpenId] = useState<string>();
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
        { title: columns.attempts, render: (event) => webhooks.attempts(attemptsOfRound(event), ATTEMPTS_MAX) },
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
          render: (event) => <EventActions clientId={clientId} event={event} onSkip={() => onSkip(event)} />,
        },
        {
          title: webhooks.details,
          isAction: true,
          render: ({ event_id, sequence }) => (
            <Button
              small
              variant="quiet"
              aria-expanded={openId === event_id}
              aria-label={webhooks.detailsOf(sequence)}
              onClick={() => setOpenId(openId === event_id ? undefined : event_id)}
            >
              {webhooks.details}
            </Button>
          ),
        },
      ]}
      detailsOf={({ event_id }) => event_id === openId && <EventDetails clientId={clientId} eventId={event_id} />}
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
  const { common } = useI18n().messages;
  const last = event.last_attempt;
  if (last === null) return <>{common.none}</>;
  return (
    <span className="event-name">
      <Time at={last.at} />
      <span className="hint">
        <AttemptOutcome attempt={last} />
      </span>
    </span>
  );
};

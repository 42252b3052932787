import { type ReactElement, type ReactNode, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Badge, Button, ErrorNotice, Table, Time } from '../ui/index.ts';
import { AttemptOutcome } from './attempt-outcome.tsx';
import { ATTEMPTS_MAX, attemptsOfRound } from './attempts-of-round.ts';
import { EventActions } from './event-actions.tsx';
import { EventDetails } from './event-details.tsx';
import { isFailing, isWaiting, toneOfEvent } from './lane.ts';
import type { Configuration } from './use-configuration.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';

/** Events with their state, attempts and payload. */
export const EventsTable = ({
  configuration: { client_id: clientId, url },
  events,
  head,
  onSkip,
}: {
  configuration: Configuration;
  events: readonly WebhookEventRecord[];
  /** The event that later ones wait for. */
  head: WebhookEventRecord | undefined;
  onSkip: (event: WebhookEventRecord) => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { columns } = webhooks;
  const [openId, setOpenId] = useState<string>();
  const [failure, setFailure] = useState<{ readonly eventId: string; readonly error: Error }>();
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
          render: (event) => <EventState event={event} />,
        },
        { title: columns.attempts, render: (event) => webhooks.attempts(attemptsOfRound(event), ATTEMPTS_MAX) },
        {
          title: columns.next,
          render: (event) => <NextAttempt event={event} head={head} />,
        },
        { title: columns.last, render: (event) => <LastAttempt event={event} /> },
        {
          title: columns.actions,
          isAction: true,
          render: (event) => (
            <EventActions
              clientId={clientId}
              event={event}
              onSkip={() => onSkip(event)}
              onFailure={(error) => setFailure(error && { eventId: event.event_id, error })}
            />
          ),
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
      detailsOf={({ event_id: id }) =>
        (id === openId || id === failure?.eventId) && (
          <div className="stack">
            {id === failure?.eventId && <ErrorNotice error={failure.error} />}
            {id === openId && <EventDetails clientId={clientId} url={url} eventId={id} />}
          </div>
        )
      }
    />
  );
};

const EventState = ({ event }: { event: WebhookEventRecord }): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { status } = event;
  return (
    <Badge tone={toneOfEvent(event)}>
      {isFailing(event) ? webhooks.failing(attemptsOfRound(event), ATTEMPTS_MAX) : webhooks.statuses[status]}
    </Badge>
  );
};

const NextAttempt = ({
  event,
  head,
}: {
  event: WebhookEventRecord;
  head: WebhookEventRecord | undefined;
}): ReactNode => {
  const { webhooks, common } = useI18n().messages;
  if (event.next_attempt_at !== null) return <Time at={event.next_attempt_at} />;
  if (!isWaiting(event)) return common.none;
  const isEarlier = head !== undefined && head.sequence < event.sequence;
  return isEarlier ? webhooks.comesFirst(head.sequence, head.status === 'failed') : webhooks.earlierFirst;
};

/** Renders the name of an event, which may break after its dot. */
const EventName = ({ event: { event, event_id } }: { event: WebhookEventRecord }): ReactElement => {
  const [subject, ...rest] = event.split('.');
  return (
    <span className="event-name">
      <code>
        {subject}.<wbr />
        {rest.join('.')}
      </code>
      <span className="hint">{event_id}</span>
    </span>
  );
};

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

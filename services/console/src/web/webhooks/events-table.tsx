import { type ReactElement, type ReactNode, useState } from 'react';
import { type Answer, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Badge, Button, CopyButton, ErrorNotice, Loaded, Table, Time } from '../ui/index.ts';
import { EventActions } from './event-actions.tsx';
import { ATTEMPTS_MAX, attemptsOfRound, isFailing, isWaiting, toneOfEvent } from './lane.ts';
import type { Configuration, WebhookEventRecord } from './webhook-operations.ts';
import { curlSample, useWebhookOperations } from './webhook-operations.ts';

/** Status or error of one delivery attempt, with its duration. */
const AttemptOutcome = ({ attempt }: { attempt: Answer<'getWebhookEvent'>['attempt_log'][number] }): ReactElement => {
  const { messages, formats } = useI18n();
  const { webhooks } = messages;
  const duration = formats.duration(attempt.duration_ms);
  const reason = attempt.error === null ? '' : (webhooks.reasons[attempt.error] ?? attempt.error);
  return (
    <span>
      {attempt.status_code === null
        ? webhooks.failedWith(reason, duration)
        : webhooks.answered(attempt.status_code, duration)}
      {isRedirect(attempt.status_code) && `, ${webhooks.redirected}`}
    </span>
  );
};

const isRedirect = (status: number | null): boolean => status !== null && status >= 300 && status < 400;

/** Shows the payload of an event and every attempt to deliver it. */
const EventDetails = ({
  clientId,
  url,
  eventId,
}: {
  clientId: string;
  /** Destination of the webhook. */
  url: string;
  eventId: string;
}): ReactElement => {
  const { webhooks, common } = useI18n().messages;
  const { operations } = useWebhookOperations();
  const event = useApiQuery(operations.event, { params: { client_id: clientId, event_id: eventId } });
  return (
    <Loaded query={event} lines={4}>
      {({ payload, attempt_log }) => (
        <div className="stack">
          <div className="copy-row">
            <code>{eventId}</code>
            <CopyButton text={eventId} label={`${common.copy}: ${webhooks.eventId}`} />
          </div>
          <div>
            <h3>{webhooks.attemptLog}</h3>
            {attempt_log.length === 0 && <p className="hint">{webhooks.noAttempts}</p>}
            <ol className="rows">
              {attempt_log.map((attempt) => (
                <li key={attempt.at} className="row">
                  <AttemptOutcome attempt={attempt} />
                  <span className="hint row-end">
                    <Time at={attempt.at} exact="seconds" />
                  </span>
                </li>
              ))}
            </ol>
          </div>
          <div>
            <div className="copy-row">
              <h3>{webhooks.payload}</h3>
              <CopyButton text={payload} label={`${common.copy}: ${webhooks.payload}`} />
              <CopyButton
                text={curlSample({ url, eventId, payload })}
                label={webhooks.copyAsCurl}
                face={webhooks.copyAsCurl}
              />
            </div>
            <p className="hint">{webhooks.curlHint}</p>
            <section className="code code-wrapped" aria-label={webhooks.payload}>
              <pre>
                <code>{JSON.stringify(JSON.parse(payload), null, 2)}</code>
              </pre>
            </section>
          </div>
        </div>
      )}
    </Loaded>
  );
};

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

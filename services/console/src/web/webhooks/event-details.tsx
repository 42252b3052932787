import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { CopyButton, Loaded, Time } from '../ui/index.ts';
import { AttemptOutcome } from './attempt-outcome.tsx';
import { curlSample } from './curl-sample.ts';
import { useWebhookOperations } from './webhook-operations.ts';

/** Shows the payload of an event and every attempt to deliver it. */
export const EventDetails = ({
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

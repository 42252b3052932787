import type { WebhookEvent, WebhookEventStatus } from '@svc/contracts';
import { recordColumns } from '@svc/database';

export type EventName = WebhookEvent['event'];

/** An event without its place in the app's sequence. */
export interface EventDraft {
  readonly clientId: string;
  readonly userId: string;
  readonly event: EventName;
  readonly data: WebhookEvent['data'];
  /** The fact that caused it; null for test events. */
  readonly factId: string | null;
}

export interface StoredEvent {
  readonly clientId: string;
  readonly eventId: string;
  readonly sequence: number;
}

/** Stored states. A queued event at the head of a leased lane is shown as `delivering`. */
export type StoredStatus = Exclude<WebhookEventStatus, 'delivering'>;

/** The part of an event that a delivery needs. */
export interface EventContent {
  readonly eventId: string;
  readonly event: EventName;
  readonly attempts: number;
  /** Attempts since the event was stored or last recovered. */
  readonly attemptsInRound: number;
  readonly body: Buffer;
}

export const contentColumns = recordColumns<EventContent>({
  eventId: 'event_id text',
  event: 'event text',
  attempts: 'attempts integer',
  attemptsInRound: 'attempts_in_round integer',
  body: 'body bytea',
});

/** Result of an outer join on events: the whole content, or nulls. */
export type JoinedContent = EventContent | { readonly [Field in keyof EventContent]: null };

/** Separates the joined content from the other columns of a row. */
export const splitContent = <R extends JoinedContent>(row: R) => {
  const { eventId, event, attempts, attemptsInRound, body, ...rest } = row;
  const isWhole = eventId !== null && event !== null && attempts !== null && attemptsInRound !== null && body !== null;
  return { rest, content: isWhole ? { eventId, event, attempts, attemptsInRound, body } : undefined };
};

import { hash } from 'node:crypto';
import {
  type AccountEvent,
  accountEventSchema,
  idOf,
  isId,
  WEBHOOK_API_VERSION,
  type WebhookEvent,
  type WebhookEventStatus,
  webhookEventSchema,
} from '@svc/contracts';
import { recordColumns } from '@svc/database';

export type EventName = WebhookEvent['event'] | AccountEvent['event'];

/** An event without its place in the lane of its owner: an app, by its `client_id`, or an account, by its `svc_user_id`. */
export interface EventDraft {
  readonly ownerId: string;
  /** The user whom an app's event is about; the account itself for its own events. */
  readonly userId: string;
  readonly event: EventName;
  readonly data: WebhookEvent['data'] | AccountEvent['data'];
  /** The fact that caused it; null for test events. */
  readonly factId: string | null;
}

export interface StoredEvent {
  readonly ownerId: string;
  readonly eventId: string;
  readonly sequence: number;
}

/** States without `delivering`, as which a queued event at the head of a leased lane is shown. */
export type EventStatus = Exclude<WebhookEventStatus, 'delivering'>;

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

/** The place and time of an event, assigned when it is stored. */
export interface EventPlace {
  readonly eventId: string;
  readonly sequence: number;
  readonly createdSeconds: number;
}

/**
 * Encodes an event's body. The bytes are stored, and every attempt signs and sends them unchanged. Throws if the envelope
 * breaks the contract.
 */
export const encodeEnvelope = (draft: EventDraft, place: EventPlace): Buffer => {
  const members = {
    api_version: WEBHOOK_API_VERSION,
    event_id: place.eventId,
    event: draft.event,
    sequence: place.sequence,
    created: place.createdSeconds,
    data: draft.data,
  };
  const envelope = isAccount(draft.ownerId)
    ? accountEventSchema.parse({ ...members, account_id: draft.ownerId } satisfies {
        [K in keyof AccountEvent]: unknown;
      })
    : webhookEventSchema.parse({
        ...members,
        integration_id: draft.ownerId,
        user: { svc_user_id: draft.userId },
      } satisfies { [K in keyof WebhookEvent]: unknown });
  return Buffer.from(JSON.stringify(envelope), 'utf8');
};

/** Tells lanes of accounts from those of apps. */
export const isAccount = (ownerId: string): boolean => isId('usr', ownerId);

/** Hexadecimal digits with which a UUID of version 7 (RFC 9562 section 5.7) tells its milliseconds. */
const TIME_DIGITS = 12;

/**
 * Returns the id of the event that a fact causes for an owner. A dispatcher that reads the fact again after a restore
 * derives the same id, by which receivers know the event. Ids sort like their facts, which keeps the index compact.
 */
export const eventIdOf = (factId: string, ownerId: string, event: string): string => {
  const timeMs = Number.parseInt(factId.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
  return idOf('evt', timeMs, hash('sha256', `${factId} ${ownerId} ${event}`, 'buffer'));
};

import type { WebhookEvent, WebhookEventStatus } from '@svc/contracts';

/** Name of a webhook event, such as `integration.connected`. */
export type EventName = WebhookEvent['event'];

/** What is known of an event before it has a place in its app's sequence. */
export interface EventDraft {
  readonly clientId: string;
  readonly userId: string;
  readonly event: EventName;
  readonly data: WebhookEvent['data'];
  /** The fact that it comes from; null for test events. */
  readonly factId: string | null;
}

/** An event that has been given its place. */
export interface StoredEvent {
  readonly clientId: string;
  readonly eventId: string;
  readonly sequence: number;
}

/** The states that a row can have; `delivering` is what a queued event at the head of a leased lane is shown as. */
export type StoredStatus = Exclude<WebhookEventStatus, 'delivering'>;

/** An event with what became of it. */
export interface EventRecord {
  readonly eventId: string;
  readonly event: EventName;
  readonly sequence: number;
  readonly generation: number;
  readonly status: WebhookEventStatus;
  readonly attempts: number;
  readonly created: number;
  readonly nextAttemptAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly lastAttempt: LastAttempt | null;
}

/** The last attempt at an event. */
export interface LastAttempt {
  readonly at: Date;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** The record as the contract writes it. */
export const toWireRecord = (record: EventRecord) => {
  return {
    event_id: record.eventId,
    event: record.event,
    sequence: record.sequence,
    generation: record.generation,
    status: record.status,
    attempts: record.attempts,
    created: record.created,
    next_attempt_at: record.nextAttemptAt?.toISOString() ?? null,
    delivered_at: record.deliveredAt?.toISOString() ?? null,
    last_attempt:
      record.lastAttempt === null
        ? null
        : {
            at: record.lastAttempt.at.toISOString(),
            status_code: record.lastAttempt.statusCode,
            error: record.lastAttempt.error,
            duration_ms: record.lastAttempt.durationMs,
          },
  };
};

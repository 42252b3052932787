import { eventEnvelopeSchema } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import type { Knex } from 'knex';
import type { JsMsg } from 'nats';
import type { Messaging } from '../connection/connect-messaging.ts';
import { findEvent, type ReceivedEvent } from '../connection/event-types.ts';
import { traceparentIn } from '../connection/trace-messages.ts';

interface Failure {
  readonly retriable: boolean;
  /** The requirement that cannot be reached, if that is the cause. */
  readonly down: Requirement | undefined;
  /** Stable code for the dead letter and the log. Never the error's text, which may quote content. */
  readonly code: string;
}

const RETRIABLE_KINDS = new Set(['limit', 'unavailable', 'internal']);
const BACKOFF_MS = [250, 1_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000];
const JITTER = 0.2;

/** Classifies an error by its `kind`. One without a kind is a fault of ours, and is retried. */
export const classifyFailure = (error: unknown): Failure => {
  const kind = textField(error, 'kind') ?? 'internal';
  const down = downOf(error);
  const code = textField(error, 'code') ?? (error instanceof Error ? error.name : kind);
  return { retriable: down !== undefined || RETRIABLE_KINDS.has(kind), down, code: code.slice(0, 100) };
};

/** A service that a consumer asks before its transaction is away. */
export class DependencyDown extends Error {
  override readonly name = 'DependencyDown';
  readonly kind = 'unavailable';
  readonly code = 'messaging.dependency_down';
}

const downOf = (error: unknown): Requirement | undefined => {
  if (error instanceof DependencyDown) return 'dependency';
  return isConnectionFailure(error) ? 'database' : undefined;
};

export const isUnavailable = (error: unknown): boolean => textField(error, 'kind') === 'unavailable';

export const retryDelayMs = (deliveries: number, random: () => number = Math.random): number => {
  const base = BACKOFF_MS[Math.min(deliveries, BACKOFF_MS.length) - 1] ?? 0;
  return Math.round(base * (1 + JITTER * (random() * 2 - 1)));
};

/** Quick deliveries while an earlier version is missing: usually another replica has it in hand. */
export const GAP_QUICK_DELIVERIES = 20;
const GAP_QUICK_MS = 50;
const GAP_QUICK_MS_MAX = 400;

/**
 * Returns the delay between the n-th delivery of a message that waits for an earlier version and the next one. After the quick
 * ones it follows the schedule of failures, so that it outlasts the retries of the missing version.
 */
export const gapDelayMs = (deliveries: number, random: () => number = Math.random): number => {
  if (deliveries <= GAP_QUICK_DELIVERIES) {
    return Math.min(GAP_QUICK_MS * 2 ** (deliveries - 1), GAP_QUICK_MS_MAX);
  }
  return retryDelayMs(deliveries - GAP_QUICK_DELIVERIES, random);
};

const textField = (error: unknown, field: string): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Runs inside the transaction that records the events as handled. */
export type Effect = (trx: Knex.Transaction, deliveries: readonly Delivery[]) => Promise<void>;

export interface HandlerDeps {
  readonly messaging: Messaging;
  readonly database: Knex;
  readonly consumer: string;
  /** Runs before the transaction, in which some of the deliveries may turn out to need no effect. */
  readonly prepare: (deliveries: readonly Delivery[]) => Promise<Effect>;
  /** Rejects while a service that `prepare` asks is away. */
  readonly probe: (() => Promise<unknown>) | undefined;
  readonly maxDeliver: number;
  readonly ordered: boolean;
  /** Messages in one transaction. */
  readonly batch: number;
}

/** Something without which no message can be handled. */
export type Requirement = 'database' | 'dependency';

/** If a requirement is down, the consumer waits for it before it takes more messages. */
export interface HandleResult {
  readonly down: Requirement | undefined;
}

/** Crashes and outages use up deliveries without an answer. So many are granted on top. */
const UNANSWERED_DELIVERIES_MAX = 10;

/** Returns how often a message is delivered before it is parked without another try. */
export const deliveriesGranted = ({ maxDeliver, ordered }: HandlerDeps): number => {
  const waits = ordered ? GAP_QUICK_DELIVERIES + maxDeliver : 0;
  return maxDeliver + waits + UNANSWERED_DELIVERIES_MAX;
};

export interface DeliveryMeta {
  readonly deliveries: number;
  readonly stream: string;
  readonly streamSequence: number;
}

export interface Delivery {
  readonly event: ReceivedEvent;
  readonly meta: DeliveryMeta;
  readonly traceparent: string | undefined;
}

/** Parses a message by its contract and drops unknown fields. Returns undefined if it is no fact of the contract. */
export const parseMessage = (message: JsMsg): ReceivedEvent | undefined => parseFact(message.subject, message.string());

/** Parses the text of a message, as `parseMessage` does. */
export const parseFact = (subject: string, text: string): ReceivedEvent | undefined => {
  const definition = findEvent(subject);
  if (definition === undefined) return undefined;
  const envelope = eventEnvelopeSchema.safeParse(parseJson(text));
  if (!envelope.success || envelope.data.subject !== subject) return undefined;
  const data = definition.schema.safeParse(envelope.data.data);
  if (!data.success) return undefined;
  // The schema was found by the subject, so `data` has the type of that subject.
  return { ...envelope.data, data: data.data } as ReceivedEvent;
};

export const toDelivery = (event: ReceivedEvent, message: JsMsg): Delivery => ({
  event,
  meta: metaOf(message),
  traceparent: traceparentIn(message),
});

const metaOf = ({ info, seq }: JsMsg): DeliveryMeta => ({
  deliveries: info.deliveryCount,
  stream: info.stream,
  streamSequence: seq,
});

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

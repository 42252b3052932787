import type { Knex } from 'knex';
import type { JsMsg } from 'nats';
import type { Messaging } from '../connection/connect-messaging.ts';
import type { ConsumedOutcome } from '../connection/metrics.ts';
import { type ReceivedMessage, traceHandling } from '../connection/trace-messages.ts';
import { classifyFailure, type Failure, GAP_QUICK_DELIVERIES, gapDelayMs, retryDelayMs } from './failure.ts';
import { type Delivery, parseMessage, toDelivery } from './parse-message.ts';
import { insertDeadLetter, insertInbox, insertVersionFailure, upsertVersion } from './queries.ts';
import { takeTurn, VersionGap } from './take-turn.ts';

/** Crashes and outages use up deliveries without an answer: so many more are granted before a message is given up. */
const UNANSWERED_DELIVERIES_MAX = 10;
/** Nothing is taken while the database is away, so this is from its return at the latest. */
const GIVE_BACK_MS = 1_000;
const PAYLOAD_CHARACTERS_MAX = 1_048_576;

/** What handling a message needs. */
export interface HandlerDeps {
  readonly messaging: Messaging;
  readonly database: Knex;
  readonly consumer: string;
  /** Runs inside the transaction that also notes the events as handled. */
  readonly effect: (trx: Knex.Transaction, deliveries: readonly Delivery[]) => Promise<void>;
  readonly maxDeliver: number;
  /** Whether versions of an aggregate are handled in order. */
  readonly ordered: boolean;
}

/** Whether the database answered; the consumer waits for it before it takes more. */
export interface HandleResult {
  readonly databaseDown: boolean;
}

/** Handles messages in one transaction or, when that fails, each in its own. Every one is acknowledged in some way. */
export const handleTogether = async (deps: HandlerDeps, messages: readonly JsMsg[]): Promise<HandleResult> => {
  const deliveries: Delivery[] = [];
  const together: JsMsg[] = [];
  for (const message of messages) {
    const event = parseMessage(message);
    if (event !== undefined && !isExhausted(deps, message)) {
      deliveries.push(toDelivery(event, message));
      together.push(message);
    } else if ((await handleOne(deps, message)).databaseDown) return await giveBack(messages);
  }
  if (deliveries.length === 0) return { databaseDown: false };
  try {
    const fresh = await commit(deps, deliveries);
    for (const message of together) message.ack();
    count(deps, 'handled', fresh);
    // Duplicates, and what was older than a handled version.
    count(deps, 'duplicate', deliveries.length - fresh);
    return { databaseDown: false };
  } catch (error) {
    if (classifyFailure(error).databaseDown) return await giveBack(messages);
  }
  for (const message of together) {
    if ((await handleOne(deps, message)).databaseDown) return await giveBack(messages);
  }
  return { databaseDown: false };
};

/** Handles one message: effect, parking, or another try later. */
export const handleOne = async (deps: HandlerDeps, message: JsMsg): Promise<HandleResult> => {
  const event = parseMessage(message);
  if (event === undefined) {
    return await park(deps, message, { retriable: false, databaseDown: false, code: 'messaging.invalid_message' });
  }
  // Its handling ended the process each time, or its failures could not even be noted.
  if (isExhausted(deps, message)) {
    return await park(deps, message, { retriable: false, databaseDown: false, code: 'messaging.never_settled' });
  }
  try {
    const outcome = await commitOne(deps, toDelivery(event, message));
    message.ack();
    count(deps, outcome, 1);
    return { databaseDown: false };
  } catch (error) {
    return await settleFailure(deps, message, error);
  }
};

const commitOne = async (deps: HandlerDeps, delivery: Delivery): Promise<ConsumedOutcome> => {
  const { consumer } = deps;
  return await inTracedTransaction(deps, [delivery], async (trx) => {
    const { event } = delivery;
    const fresh = await insertInbox(trx, consumer, [event.id]);
    if (fresh.size === 0) return 'duplicate';
    if (deps.ordered && (await takeTurn(trx, deps, delivery)) === 'stale') return 'stale';
    await deps.effect(trx, [delivery]);
    return 'handled';
  });
};

const inTracedTransaction = async <T>(
  { database, consumer }: HandlerDeps,
  deliveries: readonly Delivery[],
  work: (trx: Knex.Transaction) => Promise<T>,
): Promise<T> => {
  return await traceHandling(consumer, deliveries.map(toReceived), () => database.transaction(work));
};

const toReceived = ({ event: { id, subject }, traceparent }: Delivery): ReceivedMessage => {
  return { id, subject, traceparent };
};

/** Answers how many had an effect. */
const commit = async (deps: HandlerDeps, deliveries: readonly Delivery[]): Promise<number> => {
  return await inTracedTransaction(deps, deliveries, async (trx) => {
    const ids = deliveries.map(({ event }) => event.id);
    const fresh = await insertInbox(trx, deps.consumer, [...new Set(ids)]);
    const unhandled = deliveries.filter(({ event }, index) => fresh.has(event.id) && ids.indexOf(event.id) === index);
    const inTurn: Delivery[] = [];
    for (const delivery of unhandled) {
      if (!deps.ordered || (await takeTurn(trx, deps, delivery)) === 'next') inTurn.push(delivery);
    }
    if (inTurn.length > 0) await deps.effect(trx, inTurn);
    return inTurn.length;
  });
};

const settleFailure = async (deps: HandlerDeps, message: JsMsg, error: unknown): Promise<HandleResult> => {
  const failure = classifyFailure(error);
  if (failure.databaseDown) return await giveBack([message]);
  if (error instanceof VersionGap) return retryAfter(deps, message, gapDelayMs(message.info.deliveryCount));
  const attempt = await countAttempts(deps, message);
  if (attempt === undefined) return await giveBack([message]);
  const fields = { ...describe(deps, message), attempt, code: failure.code, err: error };
  if (!failure.retriable || attempt >= deps.maxDeliver) {
    deps.messaging.logger.error(fields, 'a message could not be handled and is parked as a dead letter');
    return await park(deps, message, failure);
  }
  const delayMs = retryDelayMs(attempt);
  deps.messaging.logger.warn({ ...fields, delay_ms: delayMs }, 'a message could not be handled; it will come again');
  return retryAfter(deps, message, delayMs);
};

const retryAfter = (deps: HandlerDeps, message: JsMsg, delayMs: number): HandleResult => {
  message.nak(delayMs);
  count(deps, 'retried', 1);
  return { databaseDown: false };
};

/**
 * How often the message has failed. Deliveries tell, unless some of them only waited for an earlier version: then the
 * failures are counted, which also tells those behind it that it will come. Undefined when the database is away.
 */
const countAttempts = async (deps: HandlerDeps, message: JsMsg): Promise<number | undefined> => {
  const event = deps.ordered ? parseMessage(message) : undefined;
  if (event === undefined) return message.info.deliveryCount;
  try {
    const key = { consumer: deps.consumer, aggregate: event.aggregate };
    return (await insertVersionFailure(deps.database, key, event.version)) ?? message.info.deliveryCount;
  } catch {
    return undefined;
  }
};

const park = async (deps: HandlerDeps, message: JsMsg, failure: Failure): Promise<HandleResult> => {
  const { database, consumer } = deps;
  const event = parseMessage(message);
  try {
    await insertDeadLetter(database, {
      ...{ consumer, event_id: event?.id ?? null, stream: message.info.stream, stream_seq: message.seq },
      ...{ subject: message.subject, payload: readableText(message), deliveries: message.info.deliveryCount },
      error_code: failure.code,
    });
    // Those behind it are not to wait for a version that will not come.
    if (deps.ordered && event !== undefined) {
      await upsertVersion(database, { consumer, aggregate: event.aggregate }, event.version);
    }
  } catch (error) {
    deps.messaging.logger.error({ ...describe(deps, message), err: error }, 'a dead letter could not be stored');
    return await giveBack([message]);
  }
  if (event === undefined) {
    deps.messaging.logger.error(
      { ...describe(deps, message), code: failure.code },
      'a message is not as the contract says',
    );
  }
  message.term(failure.code);
  count(deps, 'dead_lettered', 1);
  return { databaseDown: false };
};

/** Leaves them to a later delivery, as nothing can be done now. Settling a message twice has no effect. */
const giveBack = async (messages: readonly JsMsg[]): Promise<HandleResult> => {
  for (const message of messages) message.nak(GIVE_BACK_MS);
  return { databaseDown: true };
};

const isExhausted = (deps: HandlerDeps, message: JsMsg): boolean => {
  return message.info.deliveryCount > deliveriesGranted(deps);
};

/** How often a message is delivered before it is given up without a try. */
export const deliveriesGranted = (deps: { readonly maxDeliver: number; readonly ordered: boolean }): number => {
  const waits = deps.ordered ? GAP_QUICK_DELIVERIES + deps.maxDeliver : 0;
  return deps.maxDeliver + waits + UNANSWERED_DELIVERIES_MAX;
};

/** PostgreSQL text holds no NUL, and a dead letter is bounded like any message. */
const readableText = (message: JsMsg): string => {
  return message.string().replaceAll('\0', '').slice(0, PAYLOAD_CHARACTERS_MAX);
};

const describe = (deps: HandlerDeps, message: JsMsg) => {
  const { subject, seq, info } = message;
  return { consumer: deps.consumer, subject, stream: info.stream, sequence: seq, attempt: info.deliveryCount };
};

const count = (deps: HandlerDeps, outcome: ConsumedOutcome, amount: number): void => {
  if (amount > 0) deps.messaging.meters.consumed(deps.consumer, outcome, amount);
};

import type { JsMsg } from 'nats';
import type { ConsumedOutcome } from '../connection/metrics.ts';
import { insertDeadLetter } from './dead-letter-queries.ts';
import type { HandleResult, HandlerDeps, Requirement } from './handler.ts';
import { classifyFailure, GAP_QUICK_DELIVERIES, gapDelayMs, parseMessage, retryDelayMs } from './handler.ts';
import { countVersionFailure, raiseVersions } from './inbox-tables.ts';
import { VersionGap } from './take-turns.ts';

/**
 * Deliveries for which the first fact about an unseen aggregate waits for earlier versions: nearly 30 s, which is longer than
 * a crashed replica keeps a message to itself.
 */
export const UNSEEN_DELIVERIES = GAP_QUICK_DELIVERIES + 4;
/** The consumer takes no message while a requirement is down, so this delay begins when it is back. */
const GIVE_BACK_MS = 1_000;
const PAYLOAD_CHARACTERS_MAX = 1_048_576;

/** Retries the message later, or parks it if another delivery is pointless or was its last. */
export const settleFailure = async (deps: HandlerDeps, message: JsMsg, error: unknown): Promise<HandleResult> => {
  const failure = classifyFailure(error);
  if (failure.down !== undefined) return giveBack([message], failure.down);
  if (deps.ordered && error instanceof VersionGap) {
    return retryAfter(deps, message, gapDelayMs(message.info.deliveryCount));
  }
  const attempt = await countAttempts(deps, message);
  if (attempt === undefined) return giveBack([message], 'database');
  const fields = { ...describe(deps, message), attempt, code: failure.code, err: error };
  if (!failure.retriable || attempt >= deps.maxDeliver) {
    deps.messaging.logger.error(fields, 'a message could not be handled and is parked as a dead letter');
    return await park(deps, message, failure.code);
  }
  const delayMs = retryDelayMs(attempt);
  deps.messaging.logger.warn({ ...fields, delay_ms: delayMs }, 'a message could not be handled; retrying later');
  return retryAfter(deps, message, delayMs);
};

const retryAfter = (deps: HandlerDeps, message: JsMsg, delayMs: number): HandleResult => {
  message.nak(delayMs);
  countOutcome(deps, 'retried', 1);
  return { down: undefined };
};

/**
 * Returns how often the message has failed, or undefined if the database is down. Of an ordered consumer some deliveries only
 * waited for an earlier version, so failures are counted in the row of the aggregate.
 */
const countAttempts = async (deps: HandlerDeps, message: JsMsg): Promise<number | undefined> => {
  const { deliveryCount } = message.info;
  const event = deps.ordered ? parseMessage(message) : undefined;
  if (event === undefined) return deliveryCount;
  try {
    const failures = await countVersionFailure(deps.database, {
      consumer: deps.consumer,
      aggregate: event.aggregate,
      version: event.version,
      epoch: event.epoch,
      // The new row says that no earlier version is waited for.
      mayInsert: event.version === 1 || deliveryCount >= UNSEEN_DELIVERIES,
    });
    return failures ?? deliveryCount;
  } catch {
    return undefined;
  }
};

/** Stores the message as a dead letter and terminates it. */
export const park = async (deps: HandlerDeps, message: JsMsg, code: string): Promise<HandleResult> => {
  const { database, consumer, messaging } = deps;
  const event = parseMessage(message);
  try {
    await insertDeadLetter(database, {
      consumer,
      event_id: event?.id ?? null,
      stream: message.info.stream,
      stream_seq: message.seq,
      subject: message.subject,
      payload: readableText(message),
      deliveries: message.info.deliveryCount,
      error_code: code,
    });
    // Later versions must not wait for this one.
    if (deps.ordered && event !== undefined) {
      await raiseVersions(database, consumer, new Map([[event.aggregate, event]]));
    }
  } catch (error) {
    messaging.logger.error({ ...describe(deps, message), err: error }, 'a dead letter could not be stored');
    return giveBack([message], 'database');
  }
  if (event === undefined)
    messaging.logger.error({ ...describe(deps, message), code }, 'a message breaks its contract');
  message.term(code);
  countOutcome(deps, 'dead_lettered', 1);
  return { down: undefined };
};

/** Leaves messages to a later delivery because a requirement is down. Settling a message twice has no effect. */
export const giveBack = (messages: readonly JsMsg[], down: Requirement): HandleResult => {
  for (const message of messages) message.nak(GIVE_BACK_MS);
  return { down };
};

export const countOutcome = (deps: HandlerDeps, outcome: ConsumedOutcome, amount: number): void => {
  if (amount === 0) return;
  const { meters } = deps.messaging;
  meters.consumed(deps.consumer, outcome, amount);
  if (outcome === 'stale') meters.factsDropped(deps.consumer, amount);
};

/** PostgreSQL text holds no NUL, and a dead letter is bounded like any message. */
const readableText = (message: JsMsg): string => message.string().replaceAll('\0', '').slice(0, PAYLOAD_CHARACTERS_MAX);

const describe = (deps: HandlerDeps, { subject, seq, info }: JsMsg) => ({
  consumer: deps.consumer,
  subject,
  stream: info.stream,
  sequence: seq,
  attempt: info.deliveryCount,
});

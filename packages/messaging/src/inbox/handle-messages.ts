import { isConnectionFailure } from '@svc/database';
import type { Knex } from 'knex';
import type { JsMsg } from 'nats';
import type { ConsumedOutcome } from '../connection/metrics.ts';
import { type ReceivedMessage, traceHandling } from '../connection/trace-messages.ts';
import {
  classifyFailure,
  type Delivery,
  DependencyDown,
  deliveriesGranted,
  type Effect,
  GAP_QUICK_DELIVERIES,
  type HandleResult,
  type HandlerDeps,
  isUnavailable,
  parseMessage,
  toDelivery,
} from './handler.ts';
import { insertInbox } from './inbox-tables.ts';
import { countOutcome, giveBack, park, settleFailure, UNSEEN_DELIVERIES } from './settle-failure.ts';
import { takeTurns } from './take-turns.ts';

/** Handles messages in one transaction or, if that fails, each in its own. Acknowledges, retries or parks every one. */
export const handleMessages = async (deps: HandlerDeps, messages: readonly JsMsg[]): Promise<HandleResult> => {
  if (deps.batch === 1) return await handleEach(deps, messages);
  const deliveries: Delivery[] = [];
  const together: JsMsg[] = [];
  for (const message of messages) {
    const event = parseMessage(message);
    if (event !== undefined && !isExhausted(deps, message)) {
      deliveries.push(toDelivery(event, message));
      together.push(message);
    } else {
      const { down } = await handleOne(deps, message);
      if (down !== undefined) return giveBack(messages, down);
    }
  }
  if (deliveries.length === 0) return { down: undefined };
  try {
    const { fresh, handled } = await commit(deps, deliveries);
    for (const message of together) message.ack();
    countOutcome(deps, 'handled', handled);
    countOutcome(deps, 'stale', fresh - handled);
    countOutcome(deps, 'duplicate', deliveries.length - fresh);
    return { down: undefined };
  } catch (error) {
    const { down } = classifyFailure(error);
    if (down !== undefined) return giveBack(messages, down);
  }
  const { down } = await handleEach(deps, together);
  return down === undefined ? { down } : giveBack(messages, down);
};

const handleEach = async (deps: HandlerDeps, messages: readonly JsMsg[]): Promise<HandleResult> => {
  for (const message of messages) {
    const result = await handleOne(deps, message);
    if (result.down !== undefined) return result;
  }
  return { down: undefined };
};

const handleOne = async (deps: HandlerDeps, message: JsMsg): Promise<HandleResult> => {
  const event = parseMessage(message);
  if (event === undefined) return await park(deps, message, 'messaging.invalid_message');
  // Each delivery ended the process, or its failure could not be recorded.
  if (isExhausted(deps, message)) return await park(deps, message, 'messaging.never_settled');
  try {
    const outcome = await commitOne(deps, toDelivery(event, message));
    message.ack();
    countOutcome(deps, outcome, 1);
    return { down: undefined };
  } catch (error) {
    return await settleFailure(deps, message, error);
  }
};

const commitOne = async (deps: HandlerDeps, delivery: Delivery): Promise<ConsumedOutcome> =>
  await inTracedTransaction(deps, [delivery], async (trx, effect) => {
    const fresh = await insertInbox(trx, deps.consumer, [delivery.event.id]);
    if (fresh.size === 0) return 'duplicate';
    const [inTurn] = await inTurns(trx, deps, [delivery]);
    if (inTurn === undefined) return 'stale';
    await effect(trx, [inTurn]);
    return 'handled';
  });

const commit = async (
  deps: HandlerDeps,
  deliveries: readonly Delivery[],
): Promise<{ fresh: number; handled: number }> =>
  await inTracedTransaction(deps, deliveries, async (trx, effect) => {
    const ids = deliveries.map(({ event }) => event.id);
    const fresh = await insertInbox(trx, deps.consumer, [...new Set(ids)]);
    const unhandled = deliveries.filter(({ event }, index) => fresh.has(event.id) && ids.indexOf(event.id) === index);
    const inTurn = await inTurns(trx, deps, unhandled);
    if (inTurn.length > 0) await effect(trx, inTurn);
    return { fresh: unhandled.length, handled: inTurn.length };
  });

const inTurns = async (
  trx: Knex.Transaction,
  { ordered, consumer, maxDeliver }: HandlerDeps,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> => {
  if (!ordered || deliveries.length === 0) return deliveries;
  // Until the missing version has had its last delivery, by which it is handled or parked.
  const deliveriesMax = { known: maxDeliver + GAP_QUICK_DELIVERIES, unseen: UNSEEN_DELIVERIES };
  const facts = deliveries.map((delivery) => {
    const { event, meta } = delivery;
    const { aggregate, epoch, version } = event;
    return { delivery, aggregate, epoch, version, deliveries: meta.deliveries };
  });
  return (await takeTurns(trx, { versionsOf: consumer, deliveriesMax }, facts)).map(({ delivery }) => delivery);
};

const inTracedTransaction = async <T>(
  deps: HandlerDeps,
  deliveries: readonly Delivery[],
  work: (trx: Knex.Transaction, effect: Effect) => Promise<T>,
): Promise<T> =>
  await traceHandling(deps.consumer, deliveries.map(toReceived), async () => {
    const effect = await prepareEffect(deps, deliveries);
    return await deps.database.transaction((trx) => work(trx, effect));
  });

/** Throws DependencyDown if a service that must be asked is away, and not only unable to answer this question. */
export const prepareEffect = async (deps: HandlerDeps, deliveries: readonly Delivery[]): Promise<Effect> => {
  try {
    return await deps.prepare(deliveries);
  } catch (error) {
    if (deps.probe === undefined || !isUnavailable(error) || isConnectionFailure(error)) throw error;
    await deps.probe().catch((cause: unknown) => {
      throw new DependencyDown('a service that the consumer asks is away', { cause });
    });
    throw error;
  }
};

const toReceived = ({ event: { id, subject }, traceparent }: Delivery): ReceivedMessage => ({
  id,
  subject,
  traceparent,
});

const isExhausted = (deps: HandlerDeps, message: JsMsg): boolean =>
  message.info.deliveryCount > deliveriesGranted(deps);

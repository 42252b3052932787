import { askBroker } from '../connection/ask-broker.ts';
import { countDeadLetters } from './dead-letter-queries.ts';
import type { HandlerDeps } from './handler.ts';

const COUNTED_MAX = 10_000;

/**
 * Sets the gauges of waiting messages and unresolved dead letters. A value that cannot be read now stays as it was: brokers
 * and databases have alerts of their own.
 */
export const measureConsumer = async (
  { messaging, database, consumer }: HandlerDeps,
  streams: readonly string[],
): Promise<void> => {
  const infos = await Promise.all(
    streams.map((stream) => askBroker(messaging, () => messaging.manager.consumers.info(stream, consumer))),
  );
  if (infos.every((info) => info !== null)) {
    const waiting = infos.reduce((sum, info) => sum + info.num_pending + info.num_ack_pending, 0);
    messaging.meters.waiting(consumer, waiting);
  }
  const unresolved = await countDeadLetters(database, { consumer, countedMax: COUNTED_MAX }).catch(() => undefined);
  if (unresolved !== undefined) messaging.meters.deadLetters(consumer, unresolved);
};

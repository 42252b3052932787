import { askBroker } from '../connection/ask-broker.ts';
import type { HandlerDeps } from './handle-messages.ts';
import { countDeadLettersOf } from './queries.ts';

const INTERVAL_MS = 15_000;
const COUNTED_MAX = 10_000;

/** Tells the metrics, now and every 15 s, how many messages wait for a consumer and how many it has given up. Answers how to stop. */
export const measureConsumer = (deps: HandlerDeps, streams: readonly string[]): (() => void) => {
  void measure(deps, streams);
  const timer = setInterval(() => void measure(deps, streams), INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
};

/** Of what cannot be asked now, the last value stays: brokers and databases away have alerts of their own. */
const measure = async ({ messaging, database, consumer }: HandlerDeps, streams: readonly string[]): Promise<void> => {
  const infos = await Promise.all(
    streams.map((stream) => askBroker(messaging, () => messaging.manager.consumers.info(stream, consumer))),
  );
  if (infos.every((info) => info !== null)) {
    const waiting = infos.reduce((sum, info) => sum + info.num_pending + info.num_ack_pending, 0);
    messaging.meters.waiting(consumer, waiting);
  }
  const unresolved = await countDeadLettersOf(database, consumer, COUNTED_MAX).catch(() => undefined);
  if (unresolved !== undefined) messaging.meters.deadLetters(consumer, unresolved);
};

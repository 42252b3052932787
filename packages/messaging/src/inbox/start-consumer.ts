import type { DeadLetterOutcome } from '@svc/contracts';
import type { Knex } from 'knex';
import type { Messaging } from '../connection/connect-messaging.ts';
import { type EventOf, type EventSubject, streamOf } from '../connection/event-types.ts';
import { type HandlerDeps, handleOne, handleTogether } from './handle-messages.ts';
import { measureConsumer } from './measure-consumer.ts';
import type { Delivery, DeliveryMeta } from './parse-message.ts';
import { createPullLoop } from './pull-loop.ts';
import { deleteInboxBefore } from './queries.ts';
import { replayDeadLetter } from './replay-dead-letter.ts';

const DELIVERIES_MAX = 12;
const FETCH_SINGLE = 20;
const BATCH_MAX = 100;
/** Batches asked for at once: each pull begins with a message or two alone, in a transaction that costs as much as a full one. */
const BATCHES_PER_PULL = 4;
const PRUNE_INTERVAL_MS = 10 * 60 * 1000;
const PRUNE_BATCHES_MAX = 20;
/** Longer than a message can still come again: 7 days in the outbox and then 7 in the stream. */
const INBOX_KEPT_SECONDS = 15 * 24 * 3600;

interface CommonOptions<S extends EventSubject> {
  readonly messaging: Messaging;
  readonly database: Knex;
  /** Durable name, unique in the product: `<service>_<purpose>`. Replicas of a service share it. */
  readonly name: string;
  readonly subjects: readonly S[];
  /** Deliveries of one message before it is parked as a dead letter. */
  readonly maxDeliver?: number | undefined;
  /** Handle the versions of each aggregate in order: older ones are dropped, missing ones waited for. */
  readonly ordered?: boolean | undefined;
}

/** A consumer of facts, one transaction each. */
export interface ConsumerOptions<S extends EventSubject> extends CommonOptions<S> {
  /** The effect, in the transaction that also notes the event as handled; it is not called again once that commits. */
  readonly handle: (trx: Knex.Transaction, event: EventOf<S>, meta: DeliveryMeta) => Promise<void>;
}

/** A consumer of frequent facts, one transaction for many. */
export interface BatchConsumerOptions<S extends EventSubject> extends CommonOptions<S> {
  /** As for one, with up to `batch` events in stream order, and how each came; after a failure it is called with each alone. */
  readonly handle: (
    trx: Knex.Transaction,
    events: readonly EventOf<S>[],
    metas: readonly DeliveryMeta[],
  ) => Promise<void>;
  readonly batch?: number | undefined;
}

/** A running consumer. */
export interface Consumer {
  readonly name: string;
  readonly streams: readonly string[];
  /** Handles a parked message again, as `replayDeadLetter` says. */
  replay(id: string): Promise<DeadLetterOutcome>;
  /** Resolves when what was taken is settled; nothing more is taken until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** As `pause`, for good. */
  stop(): Promise<void>;
}

/**
 * Starts a durable consumer that handles facts one by one. An error of kind `limit`, `unavailable` or `internal` (or
 * without a kind) brings the message again later; any other one, or the last delivery, parks it in `dead_letters`.
 */
export const startConsumer = <S extends EventSubject>(options: ConsumerOptions<S>): Consumer => {
  const deps = handlerDeps(options, async (trx, deliveries) => {
    for (const delivery of deliveries) await options.handle(trx, eventOf<S>(delivery), delivery.meta);
  });
  return run(options, deps, { chunk: 1, together: false });
};

/** Starts a durable consumer that handles many facts in one transaction, falling back to one by one. */
export const startBatchConsumer = <S extends EventSubject>(options: BatchConsumerOptions<S>): Consumer => {
  const deps = handlerDeps(options, async (trx, deliveries) => {
    const metas = deliveries.map(({ meta }) => meta);
    await options.handle(trx, deliveries.map(eventOf<S>), metas);
  });
  return run(options, deps, { chunk: options.batch ?? BATCH_MAX, together: true });
};

const handlerDeps = <S extends EventSubject>(options: CommonOptions<S>, effect: HandlerDeps['effect']): HandlerDeps => {
  const { messaging, database, name } = options;
  const ordered = options.ordered === true;
  return { messaging, database, consumer: name, effect, ordered, maxDeliver: options.maxDeliver ?? DELIVERIES_MAX };
};

const run = <S extends EventSubject>(
  options: CommonOptions<S>,
  deps: HandlerDeps,
  mode: { readonly chunk: number; readonly together: boolean },
): Consumer => {
  const byStream = Map.groupBy(options.subjects, streamOf);
  const loops = [...byStream].map(([stream, subjects]) =>
    createPullLoop({
      ...{ deps, stream, subjects, fetch: mode.together ? mode.chunk * BATCHES_PER_PULL : FETCH_SINGLE },
      handle: mode.together ? (messages) => handleTogether(deps, messages) : (messages) => handleEach(deps, messages),
      chunk: mode.chunk,
    }),
  );
  const pruning = setInterval(() => void prune(deps), PRUNE_INTERVAL_MS);
  pruning.unref();
  // A counter that appears with its first count has not grown, as Prometheus sees it.
  deps.messaging.meters.consumed(options.name, 'retried', 0);
  const stopMeasuring = measureConsumer(deps, [...byStream.keys()]);
  return {
    name: options.name,
    streams: [...byStream.keys()],
    replay: (id) => replayDeadLetter(deps, id),
    async pause() {
      await Promise.all(loops.map((loop) => loop.pause()));
    },
    resume() {
      for (const loop of loops) loop.resume();
    },
    async stop() {
      clearInterval(pruning);
      stopMeasuring();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
};

const handleEach = async (deps: HandlerDeps, messages: Parameters<typeof handleTogether>[1]) => {
  for (const message of messages) {
    const result = await handleOne(deps, message);
    if (result.databaseDown) return result;
  }
  return { databaseDown: false };
};

const prune = async (deps: HandlerDeps): Promise<void> => {
  try {
    for (let batch = 0; batch < PRUNE_BATCHES_MAX; batch += 1) {
      if ((await deleteInboxBefore(deps.database, deps.consumer, INBOX_KEPT_SECONDS)) === 0) return;
    }
  } catch (error) {
    deps.messaging.logger.warn({ consumer: deps.consumer, err: error }, 'old inbox rows could not be deleted');
  }
};

const eventOf = <S extends EventSubject>(delivery: Delivery): EventOf<S> => {
  // The durable consumer filters on these very subjects, and the parsed event was found by its subject.
  return delivery.event as EventOf<S>;
};

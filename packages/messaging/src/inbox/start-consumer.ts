import type { DeadLetterOutcome } from '@svc/contracts';
import { runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Messaging } from '../connection/connect-messaging.ts';
import { askBroker } from '../connection/connect-messaging.ts';
import { type EventOf, type EventSubject, streamOf } from '../connection/event-types.ts';
import { countDeadLetters } from './dead-letter-queries.ts';
import type { Delivery, DeliveryMeta, Effect, HandlerDeps } from './handler.ts';
import { deleteInboxBefore } from './inbox-tables.ts';
import { createPullLoop } from './pull-loop.ts';
import { replayDeadLetter } from './replay-dead-letter.ts';

const DELIVERIES_MAX = 12;
const BATCH_MAX = 100;
const COUNTED_MAX = 10_000;
const MEASURE_INTERVAL_MS = 15_000;
const PRUNE_INTERVAL_MS = 60_000;
/** Longer than a message can come again: 7 days in the outbox and then 7 in the stream. */
const INBOX_KEPT_SECONDS = 15 * 24 * 3600;

interface CommonOptions<S extends EventSubject> {
  readonly messaging: Messaging;
  readonly database: Knex;
  /** Durable name, unique in the product: `<service>_<purpose>`. Replicas of a service share it. */
  readonly name: string;
  readonly subjects: readonly S[];
  /** Deliveries of one message before it is parked as a dead letter. */
  readonly maxDeliver?: number | undefined;
  /** Handles the versions of each aggregate in order: drops older ones and waits for missing ones. */
  readonly ordered?: boolean | undefined;
}

export interface ConsumerOptions<S extends EventSubject> extends CommonOptions<S> {
  /** Runs in the transaction that records the event as handled, so it takes effect once. */
  readonly handle: (trx: Knex.Transaction, event: EventOf<S>, meta: DeliveryMeta) => Promise<void>;
}

/** Handles events in the transaction that records them as handled. */
export type BatchHandler<S extends EventSubject> = (
  trx: Knex.Transaction,
  events: readonly EventOf<S>[],
  metas: readonly DeliveryMeta[],
) => Promise<void>;

export interface BatchConsumerOptions<S extends EventSubject> extends CommonOptions<S> {
  /** Gets up to `batch` events in stream order. If it fails, it is called again with each event alone. */
  readonly handle: BatchHandler<S>;
  readonly batch?: number | undefined;
}

export interface PreparedConsumerOptions<S extends EventSubject> extends CommonOptions<S> {
  /**
   * Does before the transaction what must hold no lock: asks other services, or writes in separate transactions. Returns the
   * handler of these events, of which some may be duplicates or stale. Runs again if the transaction fails.
   */
  readonly prepare: (events: readonly EventOf<S>[], metas: readonly DeliveryMeta[]) => Promise<BatchHandler<S>>;
  /**
   * Rejects while a service that `prepare` asks is away. If `prepare` fails with kind `unavailable` and this rejects too,
   * the consumer fetches nothing until it resolves, so that an outage parks no message.
   */
  readonly probe?: (() => Promise<unknown>) | undefined;
  readonly batch?: number | undefined;
}

export interface Consumer {
  readonly name: string;
  readonly streams: readonly string[];
  readonly replay: (id: string) => Promise<DeadLetterOutcome>;
  /** Resolves when the messages in hand are settled. Takes no more until `resume`. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a durable consumer that handles facts one by one. A message whose handler fails with kind `limit`, `unavailable`,
 * `internal` or none is retried later. Any other kind, or the last delivery, parks it in `dead_letters`.
 */
export const startConsumer = <S extends EventSubject>(options: ConsumerOptions<S>): Consumer => {
  const effect: Effect = async (trx, deliveries) => {
    for (const delivery of deliveries) await options.handle(trx, eventOf<S>(delivery), delivery.meta);
  };
  return run(options, { batch: 1, prepare: async () => effect, probe: undefined });
};

/** Starts a durable consumer that handles many facts in one transaction, and one by one if that fails. */
export const startBatchConsumer = <S extends EventSubject>(
  options: BatchConsumerOptions<S> | PreparedConsumerOptions<S>,
): Consumer => {
  const { batch = BATCH_MAX } = options;
  if ('handle' in options) {
    const effect = effectOf(options.handle);
    return run(options, { batch, prepare: async () => effect, probe: undefined });
  }
  const { prepare, probe } = options;
  return run(options, {
    batch,
    prepare: async (deliveries) => effectOf(await prepare(deliveries.map(eventOf<S>), deliveries.map(metaOf))),
    probe,
  });
};

const effectOf =
  <S extends EventSubject>(handle: BatchHandler<S>): Effect =>
  (trx, deliveries) =>
    handle(trx, deliveries.map(eventOf<S>), deliveries.map(metaOf));

const metaOf = ({ meta }: Delivery): DeliveryMeta => meta;

const run = <S extends EventSubject>(
  options: CommonOptions<S>,
  { batch, prepare, probe }: Pick<HandlerDeps, 'batch' | 'prepare' | 'probe'>,
): Consumer => {
  const { messaging, database, name, maxDeliver = DELIVERIES_MAX, ordered = false } = options;
  const deps: HandlerDeps = { messaging, database, consumer: name, prepare, probe, ordered, maxDeliver, batch };
  const { logger, meters } = messaging;
  const byStream = Map.groupBy(options.subjects, streamOf);
  const streams = [...byStream.keys()];
  const loops = [...byStream].map(([stream, subjects]) => createPullLoop({ deps, stream, subjects }));
  // Prometheus sees a counter grow only if it has been 0 before.
  meters.consumed(name, 'retried', 0);
  meters.factsDropped(name, 0);
  meters.paused(name, 'database', false);
  if (probe !== undefined) meters.paused(name, 'dependency', false);
  const measuring = runPeriodically({
    name: `${name} metrics`,
    intervalMs: MEASURE_INTERVAL_MS,
    run: () => measureConsumer(deps, streams),
    logger,
  });
  const pruning = runPeriodically({
    name: `${name} inbox pruning`,
    intervalMs: PRUNE_INTERVAL_MS,
    run: (signal) => pruneInbox(deps, signal),
    logger,
  });
  return {
    name,
    streams,
    replay: (id) => replayDeadLetter(deps, id),
    async pause() {
      await Promise.all(loops.map((loop) => loop.pause()));
    },
    resume() {
      for (const loop of loops) loop.resume();
    },
    async stop() {
      await Promise.all([...loops, measuring, pruning].map((part) => part.stop()));
    },
  };
};

const pruneInbox = async ({ database, consumer }: HandlerDeps, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await deleteInboxBefore(database, consumer, INBOX_KEPT_SECONDS)) > 0);
};

const eventOf = <S extends EventSubject>(delivery: Delivery): EventOf<S> => {
  // The durable consumer filters by these subjects, and the event was parsed by its subject.
  return delivery.event as EventOf<S>;
};

/**
 * Sets the gauges of waiting messages and unresolved dead letters. A value that cannot be read now stays as it was: brokers
 * and databases have alerts of their own.
 */
const measureConsumer = async (
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

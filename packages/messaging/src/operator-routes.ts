import {
  type ConsumerHealth,
  type ConsumingService,
  type DeadLetter,
  type DeadLetterOutcome,
  inboxOperations,
  type OutboxHealth,
  outboxOperations,
  type PublishingService,
  publishingServices,
  restoreOperations,
} from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { askBroker, findStream, type Messaging } from './connection/connect-messaging.ts';
import {
  countDeadLetters,
  findDeadLetterConsumer,
  findDeadLetterForUpdate,
  listDeadLetters,
  type StoredDeadLetter,
  updateDeadLetterResolved,
} from './inbox/dead-letter-queries.ts';
import { insertInbox } from './inbox/inbox-tables.ts';
import type { Consumer } from './inbox/start-consumer.ts';
import { beginEpoch, type Epoch } from './outbox/outbox-tables.ts';
import type { Relay } from './outbox/start-relay.ts';

/** Resolves a dead letter without handling it; its row stays. Returns undefined for an unknown id. */
const discardDeadLetter = async (database: Knex, id: string): Promise<DeadLetterOutcome | undefined> => {
  return await database.transaction(async (trx) => {
    const letter = await findDeadLetterForUpdate(trx, id);
    if (letter === undefined) return undefined;
    if (letter.resolved_at !== null) return { id, outcome: 'already_resolved', error_code: null };
    await updateDeadLetterResolved(trx, id);
    // A consumer that reads its stream again passes it over.
    if (letter.event_id !== null) await insertInbox(trx, letter.consumer, [letter.event_id]);
    return { id, outcome: 'discarded', error_code: null };
  });
};

export interface InboxRoutesDeps {
  readonly service: ConsumingService;
  readonly database: Knex;
  readonly messaging: Messaging;
  /** Called on each request, because consumers may start after the application. */
  readonly consumers: () => readonly Consumer[];
}

/** Routes of the internal port over consumers and dead letters, for operators. */
export const inboxRoutes = (deps: InboxRoutesDeps): Binding[] => {
  const { database, service } = deps;
  const routes = inboxOperations[service];
  return [
    bind(routes.listConsumers, async () => ({
      status: 200,
      body: {
        data: await readConsumers(deps),
        dead_letters: await countDeadLetters(database, { countedMax: COUNTED_MAX }),
      },
    })),
    bind(routes.listDeadLetters, async ({ query: { after = '0', limit } }) => {
      const found = await listDeadLetters(database, { after, limit: limit + 1 });
      return { status: 200, body: { data: found.slice(0, limit).map(toWire), has_more: found.length > limit } };
    }),
    bind(routes.replayDeadLetter, async ({ params: { id } }) => {
      const consumer = await findConsumer(deps, id);
      return { status: 200, body: await consumer.replay(id) };
    }),
    bind(routes.discardDeadLetter, async ({ params: { id } }) => {
      const outcome = await discardDeadLetter(database, id);
      if (outcome === undefined) throw new AppError('not_found');
      return { status: 200, body: outcome };
    }),
  ];
};

const readConsumers = async ({ messaging, consumers }: InboxRoutesDeps): Promise<ConsumerHealth[]> => {
  const places = consumers().flatMap(({ name, streams }) => streams.map((stream) => ({ consumer: name, stream })));
  return await Promise.all(
    places.map(async ({ consumer, stream }) => {
      const info = await askBroker(messaging, () => messaging.manager.consumers.info(stream, consumer));
      return {
        consumer,
        stream,
        waiting: info?.num_pending ?? null,
        unacknowledged: info?.num_ack_pending ?? null,
        redelivered: info?.num_redelivered ?? null,
      };
    }),
  );
};

const findConsumer = async ({ database, consumers }: InboxRoutesDeps, id: string): Promise<Consumer> => {
  const name = await findDeadLetterConsumer(database, id);
  const consumer = consumers().find((candidate) => candidate.name === name);
  // The dead letters of a consumer that no longer exists can only be discarded.
  if (consumer === undefined) throw new AppError('not_found');
  return consumer;
};

const toWire = ({
  payload: _payload,
  resolved_at: _resolvedAt,
  created_at,
  ...shown
}: StoredDeadLetter): DeadLetter => ({ ...shown, created_at: created_at.toISOString() });

interface OutboxStream {
  readonly stream: string;
  readonly unpublished: number;
  readonly oldestSeconds: number;
  /** Null before the first acknowledgement. */
  readonly created: string | null;
  readonly lastStreamSeq: number | null;
}

/** Returns the streams with published or waiting rows. Counts waiting rows up to a bound. */
const listOutboxStreams = async (database: Knex, countedMax: number): Promise<OutboxStream[]> => {
  const { rows } = await database.raw<{ rows: OutboxStream[] }>(
    `WITH waiting AS (
       SELECT stream, count(*)::int AS unpublished, extract(epoch FROM now() - min(occurred_at))::float8 AS seconds
       FROM (SELECT stream, occurred_at FROM outbox WHERE published_at IS NULL LIMIT ?) AS rows GROUP BY stream
     )
     SELECT stream, coalesce(unpublished, 0) AS unpublished, greatest(coalesce(seconds, 0), 0) AS "oldestSeconds",
       created, last_stream_seq AS "lastStreamSeq"
     FROM outbox_streams FULL JOIN waiting USING (stream) ORDER BY stream`,
    [countedMax],
  );
  return rows;
};

const COUNTED_MAX = 100_000;

export interface OutboxRoutesDeps {
  readonly service: PublishingService;
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly relay: Relay;
}

/** Routes of the internal port over the outbox, for operators. */
export const outboxRoutes = (deps: OutboxRoutesDeps): Binding[] => {
  const routes = outboxOperations[deps.service];
  return [
    bind(routes.getOutboxHealth, async () => ({ status: 200, body: await readOutboxHealth(deps) })),
    bind(routes.reconcileOutbox, async () => {
      deps.relay.reconcile();
      return { status: 202, body: { status: 'asked' } };
    }),
  ];
};

const readOutboxHealth = async ({ database, messaging, relay }: OutboxRoutesDeps): Promise<OutboxHealth> => {
  const streams = await listOutboxStreams(database, COUNTED_MAX);
  return {
    broker_connected: messaging.isConnected(),
    relay_leading: relay.isLeading(),
    oldest_unpublished_seconds: Math.max(0, ...streams.map(({ oldestSeconds }) => oldestSeconds)),
    streams: await Promise.all(streams.map((stream) => compareStream(messaging, stream))),
  };
};

/** Checks that the stream still has the messages that it acknowledged. */
const compareStream = async (messaging: Messaging, known: OutboxStream): Promise<OutboxHealth['streams'][number]> => {
  const { stream, unpublished, created, lastStreamSeq } = known;
  const state = { stream, unpublished, acknowledged_through: lastStreamSeq };
  const found = await askBroker(messaging, () => findStream(messaging.manager, stream));
  if (found === null) return { ...state, stream_ends_at: null, in_step: null, bytes: null, bytes_max: null };
  const endsAt = found?.state.last_seq ?? 0;
  const isSame = created === null || created === String(found?.created);
  return {
    ...state,
    stream_ends_at: endsAt,
    in_step: isSame && endsAt >= (lastStreamSeq ?? 0),
    bytes: found?.state.bytes ?? null,
    bytes_max: found?.config.max_bytes ?? null,
  };
};

/** Work that a service has done after a restore. */
export interface RestoreReport {
  readonly reconciled: number;
  readonly announced: number;
  /** Objects that could not be reconciled or announced. */
  readonly failed: readonly { readonly object: string; readonly reason: string }[];
}

interface RestoreRoutesDeps {
  readonly service: ConsumingService;
  readonly database: Knex;
  /** Has the consumers read all kept messages again, and returns how many. */
  readonly readAgain: () => Promise<number>;
  /** Catches up with third parties, then announces the present state once for each epoch. Safe to repeat. */
  readonly afterRestore?: (epoch: Epoch, restoredTo: Date) => Promise<RestoreReport>;
}

/** Route of the internal port that follows a restore, for operators. */
export const restoreRoutes = (deps: RestoreRoutesDeps): Binding[] => [
  bind(restoreOperations[deps.service], async ({ body }) => {
    const epoch = await beginIfPublishing(deps, new Date(body.restored_to));
    return { status: 200, body: { ...epoch, read_again: await deps.readAgain() } };
  }),
];

const NOTHING = { reconciled: 0, announced: 0, failed: [] };

const beginIfPublishing = async ({ service, database, afterRestore }: RestoreRoutesDeps, restoredTo: Date) => {
  if (!publishingServices.some((publisher) => publisher === service)) {
    return { epoch: null, began_at: null, ...NOTHING };
  }
  const epoch = await beginEpoch(database, restoredTo);
  const { reconciled, announced, failed } = (await afterRestore?.(epoch, restoredTo)) ?? NOTHING;
  const began_at = epoch.beganAt.toISOString();
  return { epoch: epoch.epoch, began_at, reconciled, announced, failed: [...failed] };
};

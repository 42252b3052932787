import { type OutboxHealth, outboxOperations, type PublishingService } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Messaging } from '../connection/connect-messaging.ts';
import { askBroker } from '../connection/connect-messaging.ts';
import { findStream } from '../connection/find-stream.ts';
import type { Relay } from '../outbox/start-relay.ts';

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

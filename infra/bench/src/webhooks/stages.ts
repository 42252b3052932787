import { connectToBroker } from '@svc/messaging/broker';
import pg from 'pg';
import { quantile } from '../harness/statistics.ts';
import type { Arrivals } from './dispatcher-under-test.ts';

/** Stages of an event from its commit on, in milliseconds since the epoch. */
const POINTS = ['committed', 'streamed', 'stored', 'begun', 'received', 'recorded'] as const;
type Point = (typeof POINTS)[number];
type Passage = Record<Point, number>;

/** Sources of the timestamps. */
export interface Traces {
  readonly natsUrl: string;
  readonly stream: string;
  /** Connection strings of auth's database and the dispatcher's. */
  readonly authDatabaseUrl: string;
  readonly database: pg.Pool;
  /** Ids of events, each with its transaction number in auth's database. */
  readonly told: readonly (readonly [id: string, transaction: string])[];
  readonly arrivals: Arrivals;
}

/** One stage, over all events. */
export interface Stage {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Follows events from their commit, as PostgreSQL recorded it before waiting for the disk, to the receiver. Reads
 * existing records afterwards, so that measuring slows nothing down.
 */
export const followFacts = async (traces: Traces): Promise<{ taken: number[]; stages: Stage[] }> => {
  const committed = await readCommits(traces);
  const streamed = await readStream(traces);
  const events = await readEvents(traces);
  const received = new Map(traces.arrivals.map(([id, at]) => [id, at]));
  const passages = events.flatMap((event): Passage[] => {
    const at = { committed: committed.get(event.fact_id), streamed: streamed.get(event.fact_id) };
    const arrival = received.get(event.event_id);
    if (at.committed === undefined || at.streamed === undefined || arrival === undefined) return [];
    const { stored, begun, recorded } = event;
    return [{ committed: at.committed, streamed: at.streamed, stored, begun, received: arrival, recorded }];
  });
  const between = (from: Point, to: Point) => passages.map((passage) => passage[to] - passage[from]);
  const stage = (name: string, from: Point, to: Point): Stage => {
    const sorted = Float64Array.from(between(from, to)).sort();
    return { name, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
  };
  return {
    taken: between('committed', 'received'),
    stages: [
      stage('commit to stream: relay, NATS', 'committed', 'streamed'),
      stage('to the commit of the event: NATS to its disk, pull, transaction', 'streamed', 'stored'),
      stage('to the attempt: disk, claim', 'stored', 'begun'),
      stage('to the receiver', 'begun', 'received'),
      stage('both: commit of the event to the receiver', 'stored', 'received'),
      stage('to the commit of the outcome', 'received', 'recorded'),
    ],
  };
};

const COMMITTED_AT = '(extract(epoch FROM pg_xact_commit_timestamp(%)) * 1000)::float8';

const readCommits = async ({ authDatabaseUrl, told }: Traces): Promise<Map<string, number>> => {
  const pool = new pg.Pool({ connectionString: authDatabaseUrl, max: 1 });
  const { rows } = await pool.query<{ id: string; at: number }>(
    `SELECT id, ${COMMITTED_AT.replace('%', 'transaction::xid')} AS at
     FROM unnest($1::text[], $2::text[]) AS told (id, transaction)`,
    [told.map(([id]) => id), told.map(([, transaction]) => transaction)],
  );
  await pool.end();
  return new Map(rows.map(({ id, at }) => [id, at]));
};

/** Returns the broker's receive time of each message, before its disk sync. */
const readStream = async ({ natsUrl, stream, told }: Traces): Promise<Map<string, number>> => {
  const nats = await connectToBroker({ url: natsUrl, name: 'operator' });
  const consumer = await nats.jetstream().consumers.get(stream);
  const at = new Map<string, number>();
  const wanted = new Set(told.map(([id]) => id));
  for await (const message of await consumer.consume()) {
    const id = message.headers?.get('Nats-Msg-Id') ?? '';
    if (wanted.delete(id)) at.set(id, message.info.timestampNanos / 1e6);
    if (wanted.size === 0) break;
  }
  await nats.close();
  return at;
};

interface EventTrace {
  readonly fact_id: string;
  readonly event_id: string;
  readonly stored: number;
  readonly begun: number;
  readonly recorded: number;
}

const readEvents = async ({ database, told }: Traces): Promise<EventTrace[]> => {
  const { rows } = await database.query<EventTrace>(
    `SELECT e.fact_id, e.event_id, ${COMMITTED_AT.replace('%', 'i.xmin')} AS stored,
       (extract(epoch FROM a.at) * 1000)::float8 AS begun, ${COMMITTED_AT.replace('%', 'a.xmin')} AS recorded
     FROM inbox i JOIN events e ON e.fact_id = i.event_id
     JOIN delivery_attempts a ON a.owner_id = e.owner_id AND a.sequence = e.sequence AND a.attempt = 1
     WHERE i.event_id = ANY($1::uuid[])`,
    [told.map(([id]) => id)],
  );
  return rows;
};

import { connect, type JetStreamClient } from 'nats';
import { loadText, printTable, say } from './harness/report.ts';
import { readable, summarize } from './harness/statistics.ts';
import {
  arrivalsOf,
  connectionCreated,
  startWorld,
  storeBacklog,
  type World,
} from './webhooks/dispatcher-under-test.ts';

const HEALTHY = Number(process.env['BENCH_HEALTHY'] ?? 100);
const HANGING = Number(process.env['BENCH_HANGING'] ?? 1_000);
const SUSPENDED = Number(process.env['BENCH_CONNECTIONS'] ?? 100_000);
const ROUNDS = 20;
const PUBLISHED_AT_ONCE = 500;
const PUBLISH_TIMEOUT_MS = 60_000;
const STORED_TIMEOUT_MS = 600_000;
const POLL_MS = 250;
const OTHERS = 20;
/** As many as last for the telling of a suspension of its full size. */
const OTHER_FACTS = Math.ceil(SUSPENDED / 250);
const OTHER_PAUSE_MS = 50;

/** Measures what hanging receivers cost the others, then how an app with very many connections is suspended. */
export const measureIsolation = async (): Promise<void> => {
  const world = await startWorld();
  try {
    await measureHanging(world);
    await measureSuspension(world);
    say(`Load average after: ${loadText()}.\n`);
  } finally {
    await world.stop();
  }
};

const measureHanging = async (world: World): Promise<void> => {
  const { database, receiver } = world;
  const healthy = await world.addApps(HEALTHY, '/hook');
  const hanging = await world.addApps(HANGING, '/hang');
  const measure = async () => {
    const milliseconds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      let storedAt = 0;
      const arrivals = await arrivalsOf(receiver, HEALTHY, async () => {
        storedAt = performance.timeOrigin + performance.now();
        await storeBacklog(database, healthy, 1);
      });
      milliseconds.push(...arrivals.map(([, at]) => at - storedAt));
    }
    return summarize(milliseconds);
  };
  // Receivers are met with caution before they have been seen to answer soon.
  await measure();
  const alone = await measure();
  await storeBacklog(database, hanging, 20);
  const beside = await measure();
  const times = `${(beside.p99 / alone.p99).toFixed(2)} times`;
  say(`Store to receiver for ${HEALTHY} apps at once; found by the poll, as no hint tells of what a driver stores:\n`);
  printTable(
    ['', 'samples', 'p50 ms', 'p99 ms', 'p99 against alone'],
    [
      ['alone', String(alone.count), alone.p50, alone.p99, '-'],
      [`beside ${HANGING} apps whose receivers hang`, String(beside.count), beside.p50, beside.p99, times],
    ],
  );
  await database.query(
    'UPDATE lanes SET done_sequence = last_sequence, due_at = NULL, leased_until = NULL, lease_token = lease_token + 1',
  );
};

/** Connections are made in the database; each of their ends is a fact of auth, as a suspension tells them. */
const measureSuspension = async (world: World): Promise<void> => {
  const { database, stack } = world;
  // Its receiver hangs: what is measured is the storing.
  const [clientId = ''] = await world.addApps(1, '/hang');
  const others = await world.addApps(OTHERS, '/hook');
  const nats = await connect({ servers: stack.natsUrl });
  const jetstream = nats.jetstream();
  const startedAt = performance.now();
  let told = 0;
  const telling = tellOthers(world, jetstream, others);
  await Promise.all(
    Array.from({ length: PUBLISHED_AT_ONCE }, async () => {
      while (told < SUSPENDED) {
        told += 1;
        const fact = connectionRevoked(clientId, told);
        await jetstream.publish(fact.subject, JSON.stringify(fact), { msgID: fact.id, timeout: PUBLISH_TIMEOUT_MS });
      }
    }),
  );
  const toldSeconds = (performance.now() - startedAt) / 1000;
  const stored = async () => {
    const { rows } = await database.query<{ count: number; transactions: number; last: string }>(
      `SELECT count(*)::int AS count, count(DISTINCT xmin::text)::int AS transactions, max(sequence)::text AS last
       FROM events WHERE client_id = $1 AND event = 'integration.revoked'`,
      [clientId],
    );
    return rows[0] ?? { count: 0, transactions: 0, last: '0' };
  };
  const endsAt = performance.now() + STORED_TIMEOUT_MS;
  while ((await stored()).count < SUSPENDED) {
    if (performance.now() > endsAt) throw new Error('the ends of the connections were not stored in time');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { transactions, last } = await stored();
  const meanwhile = await telling;
  await nats.drain();
  // The users were numbered as they were told.
  const { rows } = await database.query<{ disordered: number }>(
    `SELECT count(*)::int AS disordered FROM (
       SELECT number - lag(number) OVER (ORDER BY sequence) AS step FROM (
         SELECT sequence, (convert_from(body, 'UTF8')::json -> 'data' ->> 'revoked_at')::timestamptz AS number
         FROM events WHERE client_id = $1 AND event = 'integration.revoked') AS numbered) AS steps
     WHERE step < interval '0'`,
    [clientId],
  );
  say(`Suspension of an app with ${SUSPENDED} connections, each end a fact of its own:\n`);
  printTable(
    ['events', 'last sequence', 'transactions', 'facts/s told', 'events/s stored', 'seconds', 'out of order'],
    [
      [
        String(SUSPENDED),
        last,
        String(transactions),
        readable(SUSPENDED / toldSeconds),
        readable(SUSPENDED / seconds),
        seconds,
        String(rows[0]?.disordered ?? 0),
      ],
    ],
  );
  say(`Meanwhile from the telling of a fact about another app to its receiver, ${OTHERS} apps, one stream for all:\n`);
  printTable(
    ['samples', 'p50 ms', 'p99 ms', 'max ms'],
    [[String(meanwhile.count), meanwhile.p50, meanwhile.p99, meanwhile.max]],
  );
};

/** Tells other apps of new connections while the suspension is being told, and takes the time until they hear of them. */
const tellOthers = async ({ receiver, database }: World, jetstream: JetStreamClient, others: readonly string[]) => {
  const toldAt = new Map<string, number>();
  const arrivals = await arrivalsOf(receiver, OTHER_FACTS, async () => {
    while (toldAt.size < OTHER_FACTS) {
      const fact = connectionCreated(others[toldAt.size % others.length] ?? '');
      toldAt.set(fact.id, performance.timeOrigin + performance.now());
      await jetstream.publish(fact.subject, JSON.stringify(fact), { msgID: fact.id, timeout: PUBLISH_TIMEOUT_MS });
      await new Promise((resolve) => setTimeout(resolve, OTHER_PAUSE_MS));
    }
  });
  const { rows } = await database.query<{ event_id: string; fact_id: string }>(
    'SELECT event_id, fact_id FROM events WHERE client_id = ANY($1)',
    [others],
  );
  const factOf = new Map(rows.map((row) => [row.event_id, row.fact_id]));
  return summarize(arrivals.map(([id, at]) => at - (toldAt.get(factOf.get(id) ?? '') ?? Number.NaN)));
};

const MILLISECOND = 1;
const FIRST = Date.parse('2026-11-21T00:00:00.000Z');

const connectionRevoked = (clientId: string, number: number) => {
  const made = connectionCreated(clientId);
  const { svc_user_id, grant_id: _grant } = { ...made.data };
  const revokedAt = new Date(FIRST + number * MILLISECOND).toISOString();
  return {
    ...made,
    ...{ subject: 'auth.connection.revoked.v1', version: 1 },
    data: { svc_user_id, client_id: clientId, reason: 'app_suspended', revoked_at: revokedAt },
  };
};

import { DISCONNECTED_MAX, newId, streams } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import { loadText, printTable, say } from './harness/report.ts';
import { readable, summarize } from './harness/statistics.ts';
import { arrivalsOf, startFactTeller, startWorld, storeBacklog, type World } from './webhooks/dispatcher-under-test.ts';
import { followFacts } from './webhooks/stages.ts';

const HEALTHY = Number(process.env['BENCH_HEALTHY'] ?? 100);
const HANGING = Number(process.env['BENCH_HANGING'] ?? 1_000);
const SUSPENDED = Number(process.env['BENCH_CONNECTIONS'] ?? 100_000);
const ROUNDS = 20;
const STORED_TIMEOUT_MS = 600_000;
const POLL_MS = 250;
const HINT_SUBJECT = 'lanes_due_hint.webhook-dispatcher';
const OTHERS = 20;
const OTHER_RATE = 20;
const WARM_UP_SECONDS = 2;
/** At least the duration of a full suspension. */
const SUSPENSION_SECONDS = Math.ceil(SUSPENDED / 5_000);

/** Measures the effect of hanging receivers on the others, then the suspension of an app with very many connections. */
export const measureIsolation = async (): Promise<void> => {
  const world = await startWorld({ flags: { track_commit_timestamp: 'on' } });
  try {
    await measureHanging(world);
    await measureSuspension(world);
    say(`Load average after: ${loadText()}.\n`);
  } finally {
    await world.stop();
  }
};

const measureHanging = async (world: World): Promise<void> => {
  const { database, receiver, stack } = world;
  const healthy = await world.addApps(HEALTHY, '/hook');
  const hanging = await world.addApps(HANGING, '/hang');
  const measure = async () => {
    const milliseconds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      let storedAt = 0;
      const arrivals = await arrivalsOf(receiver, HEALTHY, async () => {
        await storeBacklog(database, healthy, 1);
        storedAt = performance.timeOrigin + performance.now();
        // Simulates the hint of a replica that has stored events; the dispatcher ignores hints with its own name.
        nats.publish(HINT_SUBJECT, 'another replica');
      });
      milliseconds.push(...arrivals.map(([, at]) => at - storedAt));
    }
    return summarize(milliseconds);
  };
  const name = 'webhook-dispatcher';
  const nats = await connectToBroker({ url: stack.natsUrlOf(name), name });
  // The dispatcher limits receivers until they have answered quickly.
  await measure();
  const alone = await measure();
  await storeBacklog(database, hanging, 20);
  const beside = await measure();
  await nats.drain();
  const times = `${(beside.p99 / alone.p99).toFixed(2)} times`;
  say(`Store to receiver for ${HEALTHY} apps at once, hinted at as by another replica:\n`);
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

/** Inserts connections into the database. Auth publishes their ends, and new connections to other apps meanwhile. */
const measureSuspension = async (world: World): Promise<void> => {
  const { database, stack, receiver } = world;
  // Its receiver hangs, since only storing is measured.
  const [clientId = ''] = await world.addApps(1, '/hang');
  const others = await world.addApps(OTHERS, '/hook');
  const teller = await startFactTeller(stack);
  const tellOthers = async (count: number) => {
    let told: readonly [string, string][] = [];
    const arrivals = await arrivalsOf(receiver, count, async () => {
      told = await teller.connect({ clientIds: others, count, rate: OTHER_RATE });
    });
    const { taken } = await followFacts({
      natsUrl: stack.natsUrlOf('operator'),
      stream: streams.auth.name,
      authDatabaseUrl: teller.databaseUrl,
      database,
      told,
      arrivals,
    });
    return summarize(taken);
  };
  const userIds = await connectUsers(world, clientId);
  await tellOthers(OTHER_RATE * WARM_UP_SECONDS);
  const alone = await tellOthers(OTHER_RATE * SUSPENSION_SECONDS);
  const startedAt = performance.now();
  teller.suspend(clientId, userIds);
  const telling = tellOthers(OTHER_RATE * SUSPENSION_SECONDS);
  const stored = async () => {
    const { rows } = await database.query<{ count: number; transactions: number; last: string }>(
      `SELECT count(*)::int AS count, count(DISTINCT xmin::text)::int AS transactions, max(sequence)::text AS last
       FROM events WHERE owner_id = $1 AND event = 'integration.revoked'`,
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
  // Events were published in the order of user ids.
  const { rows } = await database.query<{ disordered: number }>(
    `SELECT count(*)::int AS disordered FROM (
       SELECT user_id < lag(user_id) OVER (ORDER BY sequence) AS is_early FROM (
         SELECT sequence, convert_from(body, 'UTF8')::json -> 'user' ->> 'svc_user_id' COLLATE "C" AS user_id
         FROM events WHERE owner_id = $1 AND event = 'integration.revoked') AS told) AS steps
     WHERE is_early`,
    [clientId],
  );
  say(`Suspension of an app with ${SUSPENDED} connections, ${DISCONNECTED_MAX} ends to a fact:\n`);
  printTable(
    ['events', 'last sequence', 'transactions', 'events/s stored', 'seconds', 'out of order'],
    [
      [
        ...[String(SUSPENDED), last, String(transactions)],
        ...[readable(SUSPENDED / seconds), seconds, String(rows[0]?.disordered ?? 0)],
      ],
    ],
  );
  say(`From the commit of a fact about another app to its receiver, ${OTHERS} apps, ${OTHER_RATE} facts/s:\n`);
  printTable(
    ['', 'samples', 'p50 ms', 'p99 ms', 'max ms'],
    Object.entries({ before: alone, 'from the suspension on': meanwhile }).map(([when, { count, p50, p99, max }]) => [
      ...[when, String(count)],
      ...[p50, p99, max],
    ]),
  );
};

/** Inserts connections as if their events had been handled, and returns the users in the order of their ids. */
const connectUsers = async ({ database }: World, clientId: string): Promise<string[]> => {
  const userIds = Array.from({ length: SUSPENDED }, () => newId('usr')).sort();
  await database.query(
    `WITH made AS (
       INSERT INTO connections (svc_user_id, client_id, is_connected, scope, connected_at)
       SELECT user_id, $1, true, 'inference', now() FROM unnest($2::text[]) AS given (user_id)
     )
     INSERT INTO inbox_versions (consumer, aggregate, version)
     SELECT 'webhook-dispatcher_connections', 'connection:' || user_id || ':' || $1, 1 FROM unnest($2::text[]) AS given (user_id)`,
    [clientId, userIds],
  );
  return userIds;
};

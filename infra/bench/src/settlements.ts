import { setTimeout as sleep } from 'node:timers/promises';
import { events, newId } from '@svc/contracts';
import { connectToBroker } from '@svc/messaging/broker';
import pg from 'pg';
import { type BillingUnderTest, startBilling } from './billing-under-test.ts';
import { printTable, say } from './harness/report.ts';
import { foreignShare, processorMicroseconds } from './harness/resources.ts';
import { startStack } from './harness/stack.ts';

const FACTS = Number(process.env['BENCH_FACTS'] ?? 20_000);
/** Events per message, as the gateway packs them. */
const MESSAGE_FACTS = 200;
/** Requests per transaction, as many as the consumer takes. */
const BATCHES = [1, 200, 2_000];
const POLL_MS = 20;
const APP = newId('app');

/** Measures settlement through the database function alone, then from messages on NATS to the last row. */
export const measureSettlements = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const bench = await startBilling(stack);
    const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: 2 });
    const rows: (string | number)[][] = [];
    for (const batch of BATCHES) {
      const facts = Math.min(FACTS, batch * 2_000);
      const seconds = await settleThroughPg(pool, await reserve(pool, bench.accounts, facts), batch);
      rows.push([`bare pg, ${batch} to a transaction`, facts, facts / seconds, '-', await foreignShare()]);
    }
    const ids = await reserve(pool, bench.accounts, FACTS);
    const before = processorMicroseconds(bench.pid);
    const seconds = await settleThroughNats(stack.natsUrlOf('operator'), pool, ids);
    const microseconds = (processorMicroseconds(bench.pid) - before) / FACTS;
    rows.push(['NATS to rows, each message twice', FACTS, FACTS / seconds, microseconds, await foreignShare()]);
    await proveCountedOnce(pool, bench);
    await pool.end();
    say('Usage settled, each request of an account random among many; every request counted exactly once:\n');
    printTable(['through', 'facts', 'facts/s', 'billing CPU us/fact', 'foreign CPU share'], rows);
    bench.client.close();
  } finally {
    await stack.stop();
  }
};

/** Reserves `count` requests, at most two per account. */
const reserve = async (pool: pg.Pool, accounts: readonly string[], count: number): Promise<string[]> => {
  if (count > 2 * accounts.length) throw new Error('an account has two slots');
  const ids = Array.from({ length: count }, () => newId('req'));
  await pool.query(
    `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, estimate_micros, week_start, month_start, created_at)
     SELECT t.id, 'delegated', a.svc_user_id, $3, 'chat', 9, a.week_start, a.month_start, now()
     FROM unnest($1::text[]) WITH ORDINALITY AS t (id, n) JOIN accounts AS a ON a.svc_user_id = ($2::text[])[1 + t.n % cardinality($2)]`,
    [ids, accounts, APP],
  );
  await pool.query(
    `UPDATE accounts AS a SET pending = r.held FROM (
       SELECT svc_user_id, count(*) AS held FROM reservations WHERE state = 'reserved' GROUP BY svc_user_id) AS r
     WHERE r.svc_user_id = a.svc_user_id`,
  );
  await pool.query('VACUUM ANALYZE accounts, reservations');
  return ids;
};

const settleThroughPg = async (pool: pg.Pool, ids: readonly string[], batch: number): Promise<number> => {
  const startedAt = performance.now();
  for (let at = 0; at < ids.length; at += batch) {
    const some = ids.slice(at, at + batch);
    const text = "SELECT count(*) FROM settle_requests($1, $2, $3, '{}') WHERE effect = 'settled'";
    const values = [some, some.map(() => 'settled'), some.map(() => 3)];
    const { rows } = await pool.query<{ count: string }>({ name: 'settle', text, values });
    if (Number(rows[0]?.count) !== some.length) throw new Error('a request was not settled');
  }
  return (performance.now() - startedAt) / 1000;
};

/** Returns the seconds from the first message to the last settled row. */
const settleThroughNats = async (natsUrl: string, pool: pg.Pool, ids: readonly string[]): Promise<number> => {
  const connection = await connectToBroker({ url: natsUrl, name: 'operator' });
  const stream = connection.jetstream();
  const startedAt = performance.now();
  const messages: Promise<unknown>[] = [];
  for (let at = 0; at < ids.length; at += MESSAGE_FACTS) {
    const message = JSON.stringify(toEvent(ids.slice(at, at + MESSAGE_FACTS)));
    // Twice, as after a lost acknowledgement: the second must have no effect.
    messages.push(...[1, 2].map(() => stream.publish(events.usageRecorded.subject, message)));
  }
  await Promise.all(messages);
  const open = async () => {
    const { rows } = await pool.query<{ count: string }>("SELECT count(*) FROM reservations WHERE state = 'reserved'");
    return Number(rows[0]?.count);
  };
  while ((await open()) > 0) await sleep(POLL_MS);
  const seconds = (performance.now() - startedAt) / 1000;
  await connection.close();
  return seconds;
};

const toEvent = (ids: readonly string[]): object => {
  const id = crypto.randomUUID();
  const records = ids.map((requestId) => ({
    request_id: requestId,
    kind: 'delegated',
    svc_user_id: newId('usr'),
    client_id: APP,
    key_id: null,
    service: 'chat',
    outcome: 'settled',
    cost_micros: 3,
    input_tokens: 1,
    output_tokens: 1,
    audio_ms: null,
    started_at: new Date().toISOString(),
    finished_at: new Date().toISOString(),
  }));
  return {
    id,
    subject: events.usageRecorded.subject,
    aggregate: `usage:${id}`,
    version: 1,
    occurred_at: new Date().toISOString(),
    data: { records },
  };
};

const proveCountedOnce = async (pool: pg.Pool, { full }: BillingUnderTest): Promise<void> => {
  const { rows } = await pool.query<{ settled: string; counted: string; used: string; pending: string }>(
    `SELECT (SELECT count(*) FROM reservations WHERE client_id = $1 AND state = 'settled') AS settled,
       (SELECT sum(requests) FROM usage_days WHERE client_id = $1) AS counted,
       (SELECT sum(week_used_micros) / 3 FROM accounts)::bigint AS used,
       (SELECT sum(pending) FROM accounts WHERE svc_user_id <> $2) AS pending`,
    [APP, full],
  );
  const [sums] = rows;
  if (sums?.counted !== sums?.settled || sums?.used !== sums?.settled || Number(sums?.pending) !== 0) {
    throw new Error(`not every request was counted exactly once: ${JSON.stringify(sums)}`);
  }
};

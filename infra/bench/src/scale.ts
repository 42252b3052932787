import { newId } from '@svc/contracts';
import pg from 'pg';
import { type BillingUnderTest, overHttp, type Side, startBilling } from './billing-under-test.ts';
import { closedLoop, type Round, timed } from './harness/load.ts';
import { printTable, say } from './harness/report.ts';
import { processorMicroseconds } from './harness/resources.ts';
import { startStack } from './harness/stack.ts';
import { median, summarize } from './harness/statistics.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SMALL = { accounts: 1_000, history: 0 };
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 1_000_000);
const HISTORY = Number(process.env['BENCH_HISTORY'] ?? 10_000_000);
const CALLERS = 8;
/** Rows per statement while loading. */
const CHUNK = 250_000;
/** Loading connections, as many as the smallest machine has cores. */
const LOADERS = 2;
const USERS_ASKED = 20_000;

/** Measures admission and settlement with few accounts and no history, then with many of both, in one database. */
export const measureScale = async (): Promise<void> => {
  // Enough memory for hot pages, as for a database of this size; otherwise this would measure the disk.
  const stack = await startStack({ shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min' });
  try {
    const bench = await startBilling(stack, SMALL);
    const small = await measure(bench, bench.accounts);
    const startedAt = performance.now();
    const users = await load(bench.databaseUrl);
    await checkpoint(stack.postgresUrl);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    // The same load on larger tables, then a wider spread: the first write to a page after a checkpoint costs extra.
    const large = await measure(bench, everyNth(users, SMALL.accounts));
    const spread = await measure(bench, users);
    say(`Admit and settle over the endpoint, ${CALLERS} connections; loading took ${seconds} s:\n`);
    printTable(
      [
        'accounts',
        'past reservations',
        'accounts asked',
        'cycles/s',
        'admission p50 ms',
        'p99 ms',
        'billing + PostgreSQL CPU us/cycle',
      ],
      [
        [String(SMALL.accounts), String(SMALL.history), String(SMALL.accounts), ...small],
        [String(ACCOUNTS), String(HISTORY), String(SMALL.accounts), ...large],
        [String(ACCOUNTS), String(HISTORY), String(users.length), ...spread],
      ],
    );
    bench.client.close();
  } finally {
    await stack.stop();
  }
};

/** Returns evenly spaced users of the whole table. */
const everyNth = (users: readonly string[], count: number): string[] => {
  const step = Math.max(1, Math.floor(users.length / count));
  return users.filter((_, place) => place % step === 0).slice(0, count);
};

const measure = async (bench: BillingUnderTest, users: readonly string[]): Promise<number[]> => {
  const side = overHttp(bench);
  const run = () => closedLoop({ callers: CALLERS, seconds: SECONDS }, () => cycle(side, users));
  await run();
  const database = new pg.Client({ connectionString: bench.databaseUrl });
  // Expected if a failure stops the stack; that failure is reported instead.
  database.on('error', () => undefined);
  await database.connect();
  const rounds: Round[] = [];
  let microseconds = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const pids = [bench.pid, ...(await backendsOf(database))];
    const before = used(pids);
    rounds.push(await run());
    microseconds += used(pids) - before;
  }
  await database.end();
  const all = rounds.flatMap(({ milliseconds }) => [...milliseconds]);
  const { p50, p99 } = summarize(all);
  return [median(rounds.map(({ rate }) => rate)), p50, p99, microseconds / all.length];
};

const cycle = async (side: Side, users: readonly string[]): Promise<number> => {
  const userId = users[Math.floor(Math.random() * users.length)] ?? '';
  const requestId = newId('req');
  let verdict = '';
  const taken = await timed(async () => {
    verdict = await side.admit(userId, requestId);
  });
  if (verdict === 'admitted') await side.settle(requestId);
  else if (verdict !== 'subscription_requests_pending') throw new Error(`admission answered ${verdict}`);
  return taken;
};

const backendsOf = async (database: pg.Client): Promise<number[]> => {
  const { rows } = await database.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'billing' AND backend_type = 'client backend'",
  );
  return rows.map(({ pid }) => pid);
};

const used = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + processorMicroseconds(pid), 0);

/** Fills the tables as years of use would, and returns accounts spread over all of them. */
const load = async (databaseUrl: string): Promise<string[]> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: LOADERS, options: '-c synchronous_commit=off' });
  // Expected if a failure stops the stack; that failure is reported instead.
  pool.on('error', () => undefined);
  // Speeds up loading: skips checks per row and sorts ten million ids once.
  await pool.query('ALTER TABLE ended_reservations DISABLE TRIGGER USER, DROP CONSTRAINT ended_reservations_pkey');
  const id = (prefix: string, number: string) => `'${prefix}_' || lpad(to_hex((${number})::bigint), 26, '0')`;
  await inChunks(ACCOUNTS, async (from, to) => {
    await pool.query(
      `INSERT INTO accounts (svc_user_id, status, plan_id, anchor, interval, period_start, period_end, week_start, week_end, month_start, month_end)
       SELECT ${id('usr', 'n')}, status, plan_id, anchor, interval, period_start, period_end, week_start, week_end, month_start, month_end
       FROM (SELECT * FROM accounts LIMIT 1) AS model, generate_series(${from}, ${to}) AS n`,
    );
  });
  await inChunks(HISTORY, async (from, to) => {
    const user = id('usr', `1 + (n::bigint * 7919) % ${ACCOUNTS}`);
    await pool.query(
      `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, state, estimate_micros, cost_micros,
         settled_by, week_start, month_start, created_at, ended_at)
       SELECT ${id('req', 'n')}, 'delegated', ${user}, 'app_past', 'chat', 'settled', 1, 1, 'usage', now(), now(), now(), now()
       FROM generate_series(${from}, ${to}) AS n`,
    );
  });
  await pool.query(
    `SET maintenance_work_mem = '1GB';
     ALTER TABLE ended_reservations ADD CONSTRAINT ended_reservations_pkey PRIMARY KEY (request_id), ENABLE TRIGGER USER;
     RESET maintenance_work_mem`,
  );
  await pool.query('VACUUM ANALYZE accounts, reservations');
  const { rows } = await pool.query<{ svc_user_id: string }>(
    `SELECT svc_user_id FROM accounts TABLESAMPLE BERNOULLI (${Math.min(100, (USERS_ASKED / ACCOUNTS) * 100)}) WHERE pending = 0`,
  );
  await pool.end();
  return rows.map(({ svc_user_id }) => svc_user_id);
};

/** Writes out the loaded data before the measurement; billing's role may not run a checkpoint. */
const checkpoint = async (postgresUrl: string): Promise<void> => {
  const database = new pg.Client({ connectionString: postgresUrl });
  await database.connect();
  await database.query('CHECKPOINT');
  await database.end();
};

/** Inserts `count` rows in statements of `CHUNK`, in parallel over the loaders. */
const inChunks = async (count: number, insert: (from: number, to: number) => Promise<void>): Promise<void> => {
  let next = 1;
  await Promise.all(
    Array.from({ length: LOADERS }, async () => {
      while (next <= count) {
        const from = next;
        next += CHUNK;
        await insert(from, Math.min(count, from + CHUNK - 1));
      }
    }),
  );
};

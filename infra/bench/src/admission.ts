import { join } from 'node:path';
import { newId } from '@svc/contracts';
import pg from 'pg';
import { type BillingUnderTest, overHttp, type Side, startBilling, throughPg } from './billing-under-test.ts';
import { closedLoop, interleave, metered, type Round, timed } from './harness/load.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type Stack, startStack } from './harness/stack.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Fewest last, after thousands of calls have warmed up the code. */
const CONCURRENCIES = [32, 8, 1];
const REFUSED_CALLERS = 8;
const FLOOD_RATE = Number(process.env['BENCH_FLOOD_RATE'] ?? 300);
const FLOODED_MANY = 2_000;
const NEIGHBORS = 4;

const LOCKING = { name: 'locking', text: 'SELECT bench_refuse_locking($1) AS verdict' };

/** Measures admission and settlement over HTTP against the same functions through bare pg, with commits on disk. */
export const measureAdmission = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const bench = await startBilling(stack);
    await compareCycles(bench);
    await compareRefusals(bench);
    await floodOneAccount(stack, bench);
    bench.client.close();
  } finally {
    await stack.stop();
  }
};

/** Admits and settles one request of a random account and returns the milliseconds of the admission. */
const cycle = async (side: Side, accounts: readonly string[]): Promise<number> => {
  const userId = accounts[Math.floor(Math.random() * accounts.length)] ?? '';
  const requestId = newId('req');
  let verdict = '';
  const taken = await timed(async () => {
    verdict = await side.admit(userId, requestId);
  });
  // A third concurrent request of one account must be refused.
  if (verdict === 'subscription_requests_pending') return taken;
  if (verdict !== 'admitted') throw new Error(`admission answered ${verdict}`);
  const state = await side.settle(requestId);
  if (state !== 'settled') throw new Error(`settlement answered ${state}`);
  return taken;
};

const compareCycles = async (bench: BillingUnderTest): Promise<void> => {
  const rows: (string | number)[][] = [];
  for (const callers of CONCURRENCIES) {
    const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: callers });
    const run = (side: Side) => () => closedLoop({ callers, seconds: SECONDS }, () => cycle(side, bench.accounts));
    const endpointRounds = metered(bench.pid, run(overHttp(bench)));
    // Warms up code and plans of both sides.
    for (const warmUp of [run(throughPg(pool)), run(overHttp(bench))]) await warmUp();
    const { results, foreign } = await interleave(
      { floor: run(throughPg(pool)), endpoint: endpointRounds.round },
      ROUNDS,
    );
    await pool.end();
    const { floor, endpoint } = results;
    const share = `${Math.round((endpoint.rate / floor.rate) * 100)} %`;
    rows.push([
      callers,
      floor.rate,
      endpoint.rate,
      share,
      floor.p50,
      endpoint.p50,
      floor.p99,
      endpoint.p99,
      endpointRounds.perCall(),
      foreign,
    ]);
  }
  say('Reserve and settle, each account random among many; p50 and p99 are those of the admission:\n');
  const head = ['connections', 'floor cycles/s', 'endpoint cycles/s', 'share of floor'];
  printTable(
    [
      ...head,
      'floor p50 ms',
      'endpoint p50 ms',
      'floor p99 ms',
      'endpoint p99 ms',
      'billing CPU us/cycle',
      'foreign CPU share',
    ],
    rows,
  );
};

const compareRefusals = async (bench: BillingUnderTest): Promise<void> => {
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: REFUSED_CALLERS });
  const walBytes = new Map<string, number>();
  const refused = (name: string, ask: () => Promise<string>) => async (): Promise<Round> => {
    const before = await walPosition(pool);
    const round = await closedLoop({ callers: REFUSED_CALLERS, seconds: SECONDS }, () =>
      timed(async () => {
        const verdict = await ask();
        if (verdict !== 'subscription_requests_pending') throw new Error(`refusal answered ${verdict}`);
      }),
    );
    const written = (await walPosition(pool)) - before;
    walBytes.set(name, (walBytes.get(name) ?? 0) + written);
    return round;
  };
  const direct = () => throughPg(pool).admit(bench.full, newId('req'));
  const asked = () => overHttp(bench).admit(bench.full, newId('req'));
  const overTheEndpoint = metered(bench.pid, refused('endpoint', asked));
  const { results, foreign } = await interleave(
    {
      'bare pg': refused('bare pg', direct),
      'bare pg, nothing but the lock': refused('bare pg, nothing but the lock', async () => {
        const { rows } = await pool.query<{ verdict: string }>({ ...LOCKING, values: [bench.full] });
        return rows[0]?.verdict ?? '';
      }),
      endpoint: overTheEndpoint.round,
    },
    ROUNDS,
  );
  await pool.end();
  say(`Refusals of one account with two pending, 8 connections; foreign CPU share ${foreign.toFixed(2)}:\n`);
  printTable(
    ['refused by', 'refusals/s', 'p50 ms', 'p99 ms', 'endpoint to this one', 'WAL bytes/refusal'],
    Object.entries(results).map(([name, { rate, p50, p99, count }]) => [
      ...[name, rate, p50, p99],
      ...[`${(results.endpoint.rate / rate).toFixed(1)}x`, (walBytes.get(name) ?? 0) / count],
    ]),
  );
  say(`Processor time of billing per refusal: ${Math.round(overTheEndpoint.perCall())} us.\n`);
};

const walPosition = async (pool: pg.Pool): Promise<number> => {
  const { rows } = await pool.query<{ at: string }>("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS at");
  return Number(rows[0]?.at);
};

/**
 * Measures the neighbors' latency alone, beside a flood on one account, and beside the same flood spread over many
 * accounts. The flood has a fixed rate, far above an account's limit, and runs in a separate process. A closed loop
 * would measure the sharing of cores and the load generator's queue.
 */
const floodOneAccount = async (stack: Stack, bench: BillingUnderTest): Promise<void> => {
  const side = overHttp(bench);
  const [hot = '', ...neighbors] = bench.accounts;
  const flood = await stack.startScript(join(import.meta.dirname, 'flood', 'main.ts'), {
    FLOOD_URL: bench.service.internalUrl,
    FLOOD_TOKEN: stack.internalToken,
    FLOOD_RATE: String(FLOOD_RATE),
  });
  const answered: number[] = [];
  const beside = (flooded: readonly string[]) => async (): Promise<Round> => {
    if (flooded.length > 0) flood.send({ accounts: flooded, seconds: SECONDS });
    const round = await closedLoop({ callers: NEIGHBORS, seconds: SECONDS }, () => cycle(side, neighbors));
    if (flooded.length > 0) answered.push(Number(await flood.message()) / SECONDS);
    return round;
  };
  const { results, foreign } = await interleave(
    {
      alone: beside([]),
      'flood on one account': beside([hot]),
      'same flood over many': beside(neighbors.slice(0, FLOODED_MANY)),
    },
    ROUNDS,
  );
  await flood.stop();
  say(
    `Neighbors (${NEIGHBORS} connections) beside a flood of ${FLOOD_RATE} admissions/s (answered: ` +
      `${answered.map(Math.round).join(', ')}); foreign CPU share ${foreign.toFixed(2)}:\n`,
  );
  printTable(
    ['neighbors', 'cycles/s', 'admission p50 ms', 'p99 ms', 'p99 to alone'],
    Object.entries(results).map(([name, { rate, p50, p99 }]) => [
      ...[name, rate, p50, p99],
      `${(p99 / results.alone.p99).toFixed(2)}x`,
    ]),
  );
  say(`Load average after: ${loadText()}.\n`);
};

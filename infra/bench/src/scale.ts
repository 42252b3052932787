import { newId } from '@svc/contracts';
import pg from 'pg';
import { type BillingUnderTest, startBilling } from './billing-under-test.ts';
import type { BareClient } from './harness/bare-http.ts';
import { openClient } from './harness/http.ts';
import { closedLoop, timed } from './harness/load.ts';
import { familyMicroseconds, processorMicroseconds } from './harness/processor-time.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { median, quantile, readable, summarize } from './harness/statistics.ts';
import { type Cycle, delegatedCycle, keyCycle } from './scale/billing-calls.ts';
import { type HistorySize, historyAccounts, loadHistory } from './scale/load-history.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 1_000_000);
const HISTORY = Number(process.env['BENCH_HISTORY'] ?? 10_000_000);
const MONTHS = 13;
const CALLERS = 8;
/** Accounts asked in either database, and in the full one as a spread over all of it. */
const ASKED = 1_000;
const ASKED_WIDELY = 20_000;
/** Exports per database and round. Each account is exported once, as in life. */
const EXPORTS = 10;
/** One account in this many uses API keys. */
const ACCOUNTS_PER_BUSINESS = 100;
const REQUESTS_OF_EXPORTED = 1_000;
/** Enough memory for hot pages, as for a database of this size; and no WAL for what is loaded. */
const FLAGS = {
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** A billing, and the accounts of it that are asked. */
interface Target {
  readonly name: string;
  readonly stack: Stack;
  readonly bench: BillingUnderTest;
  readonly accounts: readonly string[];
  readonly businesses: readonly string[];
}

/** Measures admission, settlement and export by turns in a billing without history and in one with a year of it. */
export const measureScale = async (): Promise<void> => {
  const exported = Array.from({ length: EXPORTS * ROUNDS }, () => newId('usr'));
  const stacks: Stack[] = [];
  try {
    const start = async (name: string, size: Omit<HistorySize, 'exported' | 'requestsOfEach'>) => {
      const stack = await startStack(FLAGS);
      stacks.push(stack);
      const bench = await startBilling(stack, { accounts: 1, history: 0 });
      const startedAt = performance.now();
      await loadHistory(bench.databaseUrl, { ...size, exported, requestsOfEach: REQUESTS_OF_EXPORTED });
      await checkpoint(stack.postgresUrl);
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      say(
        `${name}: ${size.accounts} accounts, ${size.requests} finished requests, ${await gigabytes(bench)} GB, loaded in ${seconds} s`,
      );
      return (asked: number): Target => ({
        name,
        stack,
        bench,
        accounts: historyAccounts(size.accounts, asked),
        businesses: historyAccounts(size.businesses, asked),
      });
    };
    const businesses = Math.max(ASKED, Math.floor(ACCOUNTS / ACCOUNTS_PER_BUSINESS));
    const full = await start('full', { months: MONTHS, accounts: ACCOUNTS, businesses, requests: HISTORY });
    const empty = await start('empty', { months: 1, accounts: ASKED, businesses: ASKED, requests: 0 });
    const targets = [empty(ASKED), full(ASKED), { ...full(ASKED_WIDELY), name: 'full, all accounts' }];
    await measure(targets, exported);
    for (const { bench } of targets) bench.client.close();
  } finally {
    for (const stack of stacks) await stack.stop();
  }
};

const measure = async (targets: readonly Target[], exported: readonly string[]): Promise<void> => {
  say(
    `\n${CALLERS} connections, ${ROUNDS} rounds of ${SECONDS} s by turns; factors are medians of "full" over "empty" in a round:\n`,
  );
  const rows = [
    ...(await measureCycles('delegated', targets, 'accounts', delegatedCycle)),
    ...(await measureCycles('API key', targets, 'businesses', keyCycle)),
  ];
  printTable(
    ['requests', 'database', 'cycles/s', 'admission p50 ms', 'p99 ms', 'settlement p50 ms', 'p99 ms', 'CPU us/cycle'],
    rows,
  );
  await measureExports(targets.slice(0, 2), exported);
  say(`Load average after: ${loadText()}.\n`);
};

/** A round of cycles. */
interface CycleRound {
  readonly rate: number;
  readonly cycles: readonly Cycle[];
  readonly microseconds: number;
}

const measureCycles = async (
  kind: string,
  targets: readonly Target[],
  among: 'accounts' | 'businesses',
  cycle: (client: BareClient, userId: string) => Promise<Cycle>,
): Promise<(string | number)[][]> => {
  const rounds = targets.map((): CycleRound[] => []);
  // The first round warms up code, plans and pages.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [place, target] of targets.entries()) {
      const result = await runCycles(target, (caller) => cycle(target.bench.client, chooseFor(caller, target[among])));
      if (round > 0) rounds[place]?.push(result);
    }
  }
  const [base = []] = rounds;
  return targets.map(({ name }, place) => {
    const own = rounds[place] ?? [];
    const figure = (of: (round: CycleRound) => number): string => {
      const factor = median(own.map((round, index) => of(round) / of(base[index] ?? round)));
      return place === 0 ? readable(median(own.map(of))) : `${readable(median(own.map(of)))} (${factor.toFixed(2)})`;
    };
    const time = (part: keyof Cycle, share: number) =>
      figure(({ cycles }) => quantile(Float64Array.from(cycles, (each) => each[part]).sort(), share));
    return [
      kind,
      name,
      figure(({ rate }) => rate),
      time('admission', 0.5),
      time('admission', 0.99),
      time('settlement', 0.5),
      time('settlement', 0.99),
      figure(({ microseconds }) => microseconds),
    ];
  });
};

/** Returns a random account that no other caller asks for, since billing serialises an account. */
const chooseFor = (caller: number, accounts: readonly string[]): string => {
  const turn = Math.floor((Math.random() * accounts.length) / CALLERS);
  return accounts[(turn * CALLERS + caller) % accounts.length] ?? '';
};

const runCycles = async ({ stack, bench }: Target, run: (caller: number) => Promise<Cycle>): Promise<CycleRound> => {
  const used = () => processorMicroseconds(bench.pid) + familyMicroseconds(stack.postgres.pid());
  const cycles: Cycle[] = [];
  const before = used();
  const { rate } = await closedLoop({ callers: CALLERS, seconds: SECONDS }, async (caller) => {
    const cycle = await run(caller);
    return cycles.push(cycle);
  });
  return { rate, cycles, microseconds: (used() - before) / cycles.length };
};

/** Exports each account once, by turns, since an export is not repeated in life either. */
const measureExports = async (targets: readonly Target[], exported: readonly string[]): Promise<void> => {
  const clients = targets.map(({ bench }) => openClient(bench.service.internalUrl, 1));
  const times = targets.map((): number[] => []);
  for (const userId of exported) {
    for (const [place, { stack }] of targets.entries()) {
      const path = `/internal/billing/personal-data/${userId}`;
      let text = '';
      times[place]?.push(
        await timed(async () => {
          ({ text } = (await clients[place]?.expect(200, { path, token: stack.authToken })) ?? { text });
        }),
      );
      const found = text.split('"request_id"').length - 1;
      if (Math.abs(found - REQUESTS_OF_EXPORTED) > REQUESTS_OF_EXPORTED / 10)
        throw new Error(`an export has ${found} requests`);
    }
  }
  await Promise.all(clients.map((client) => client.close()));
  const [base] = times;
  printTable(
    ['export of 1,000 requests', 'accounts', 'p50 ms', 'p99 ms', 'factor of p50'],
    targets.map(({ name }, place) => {
      const { count, p50, p99 } = summarize(times[place] ?? []);
      return [name, String(count), p50, p99, (p50 / summarize(base ?? []).p50).toFixed(2)];
    }),
  );
};

/** Writes out the loaded data before the measurement; billing's role may not run a checkpoint. */
const checkpoint = async (postgresUrl: string): Promise<void> => {
  const database = new pg.Client({ connectionString: postgresUrl });
  await database.connect();
  await database.query('CHECKPOINT');
  await database.end();
};

const gigabytes = async ({ databaseUrl }: BillingUnderTest): Promise<string> => {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  await database.end();
  return (Number(rows[0]?.bytes) / 1e9).toFixed(2);
};

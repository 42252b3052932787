import { newId } from '@svc/contracts';
import pg from 'pg';
import { type BillingUnderTest, startBilling } from './billing-under-test.ts';
import type { BareClient } from './harness/http.ts';
import { type Client, openClient } from './harness/http.ts';
import { closedLoop, timed } from './harness/load.ts';
import { loadText, printTable, say } from './harness/report.ts';
import { familyMicroseconds, processorMicroseconds } from './harness/resources.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { median, quantile, readable, summarize } from './harness/statistics.ts';
import { type Cycle, delegatedCycle, keyCycle } from './scale/billing-calls.ts';
import { type Crowd, type History, historyAccounts, loadAccounts, loadRequests } from './scale/load-history.ts';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 1_000_000);
const HISTORY = Number(process.env['BENCH_HISTORY'] ?? 10_000_000);
const MONTHS = 13;
const CALLERS = 8;
/** Accounts asked in either database, and in the full one as a spread over all of it. */
const ASKED = 1_000;
const ASKED_WIDELY = 20_000;
const EXPORTS = 50;
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
  const stacks: Stack[] = [];
  try {
    const start = async () => {
      const stack = await startStack(FLAGS);
      stacks.push(stack);
      return { stack, bench: await startBilling(stack, { accounts: 1, history: 0 }) };
    };
    const exported = Array.from({ length: EXPORTS }, () => newId('usr'));
    const history = { months: MONTHS, exported, requestsOfEach: REQUESTS_OF_EXPORTED };
    const crowd = { accounts: ACCOUNTS, businesses: Math.max(ASKED, Math.floor(ACCOUNTS / ACCOUNTS_PER_BUSINESS)) };
    const full = await start();
    await loadAccounts(full.bench.databaseUrl, crowd);
    await fill(full, 'full', crowd, { ...history, requests: HISTORY });
    const few = { accounts: ASKED, businesses: ASKED };
    const empty = await start();
    await loadAccounts(empty.bench.databaseUrl, few);
    const targets: Target[] = [
      { ...empty, name: 'empty', ...ask(few, ASKED) },
      { ...full, name: 'full', ...ask(crowd, ASKED) },
      { ...full, name: 'full, all accounts', ...ask(crowd, ASKED_WIDELY) },
    ];
    await measureRequests(targets);
    // An export is as long as its account is old, so the other database gets the same accounts, and no others.
    await fill(empty, 'exported accounts alone', few, { ...history, requests: 0 });
    await measureExports(targets.slice(0, 2), exported);
    say(`Load average after: ${loadText()}.\n`);
    for (const { bench } of [empty, full]) bench.client.close();
  } finally {
    for (const stack of stacks) await stack.stop();
  }
};

const ask = ({ accounts, businesses }: Crowd, count: number): Pick<Target, 'accounts' | 'businesses'> => ({
  accounts: historyAccounts(accounts, count),
  businesses: historyAccounts(businesses, count),
});

const fill = async (
  { stack, bench }: Pick<Target, 'stack' | 'bench'>,
  name: string,
  crowd: Crowd,
  history: History,
): Promise<void> => {
  const startedAt = performance.now();
  await loadRequests(bench.databaseUrl, crowd, history);
  const bytes = await sizeAfterCheckpoint(stack.postgresUrl, bench.databaseUrl);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const requests = history.requests + history.exported.length * history.requestsOfEach;
  say(
    `${name}: ${crowd.accounts} accounts, ${requests} requests, ${(bytes / 1e9).toFixed(2)} GB, loaded in ${seconds} s.`,
  );
};

const measureRequests = async (targets: readonly Target[]): Promise<void> => {
  say(
    `\n${CALLERS} connections, ${ROUNDS} rounds of ${SECONDS} s by turns; in brackets the median factor to "empty" within a round:\n`,
  );
  const rows = [
    ...(await measureCycles('delegated', targets, 'accounts', delegatedCycle)),
    ...(await measureCycles('API key', targets, 'businesses', keyCycle)),
  ];
  printTable(
    ['requests', 'database', 'cycles/s', 'admission p50 ms', 'p99 ms', 'settlement p50 ms', 'p99 ms', 'CPU us/cycle'],
    rows,
  );
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

/** Returns a random account that no other caller asks for, since billing serializes an account. */
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

/** Exports each account from each database, by turns: first all of them from disk or the system's cache, then again from buffers. */
const measureExports = async (targets: readonly Target[], exported: readonly string[]): Promise<void> => {
  const clients = targets.map(({ bench }) => openClient(bench.service.internalUrl, 1));
  const rows: (string | number)[][] = [];
  for (const pass of ['first', 'again']) {
    const times = targets.map((): number[] => []);
    for (const userId of exported) {
      for (const [place, { stack }] of targets.entries()) {
        const client = clients[place];
        if (client !== undefined) times[place]?.push(await timed(() => exportAccount(client, userId, stack.authToken)));
      }
    }
    const [base] = times;
    rows.push(
      ...targets.map(({ name }, place) => {
        const { count, p50, p99 } = summarize(times[place] ?? []);
        return [pass, name, String(count), p50, p99, (p50 / summarize(base ?? []).p50).toFixed(2)];
      }),
    );
  }
  await Promise.all(clients.map((client) => client.close()));
  printTable(['export of 1,000 requests', 'database', 'accounts', 'p50 ms', 'p99 ms', 'factor of p50'], rows);
};

const exportAccount = async (client: Client, userId: string, token: string): Promise<void> => {
  const { text } = await client.expect(200, { path: `/internal/billing/personal-data/${userId}`, token });
  const found = text.split('"request_id"').length - 1;
  if (Math.abs(found - REQUESTS_OF_EXPORTED) > REQUESTS_OF_EXPORTED / 10) {
    throw new Error(`an export has ${found} requests`);
  }
};

/** Writes out the loaded data before the measurement, for which billing's role has no right, and returns the database's size. */
const sizeAfterCheckpoint = async (postgresUrl: string, databaseUrl: string): Promise<number> => {
  const database = new pg.Client({ connectionString: postgresUrl });
  await database.connect();
  await database.query('CHECKPOINT');
  const name = new URL(databaseUrl).pathname.slice(1);
  const { rows } = await database.query<{ bytes: string }>('SELECT pg_database_size($1) AS bytes', [name]);
  await database.end();
  return Number(rows[0]?.bytes);
};

import { newId } from '@svc/contracts';
import pg from 'pg';
import { overHttp, type Side, startBilling } from './billing-under-test.ts';
import { openBareClient } from './harness/bare-http.ts';
import { say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';

const RACES = Number(process.env['BENCH_RACES'] ?? 2_000);
const KILLS = Number(process.env['BENCH_KILLS'] ?? 4);
/** Accounts that are raced for at one time. */
const WAVE = 200;
/** Requests that race for the two places of one account, over two processes by turns. */
const CONTENDERS = 3;
const PLACES = 2;

/** What races came to. */
export interface RaceResult {
  readonly races: number;
  readonly admitted: number;
  /** Accounts on which more requests held a place than there are places, as rows and as the account's own number. */
  readonly breaches: number;
  readonly kills: number;
  /** Calls that a killed process left unanswered; they are asked again at the other one. */
  readonly unanswered: number;
}

/** Races for the two places of each account from two processes, each killed by turns, and says what came of it. */
export const measureRaces = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const startedAt = performance.now();
    const result = await race(stack, { races: RACES, kills: KILLS });
    const { races, admitted, breaches, kills, unanswered } = result;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    say(
      `${races} races of ${CONTENDERS} requests for ${PLACES} places, ${kills} kills, ${unanswered} calls unanswered, ${seconds} s:`,
    );
    say(
      `${breaches} breaches; ${admitted} admitted, ${(admitted / races).toFixed(3)} of ${PLACES} places on average.\n`,
    );
    if (breaches > 0) process.exitCode = 1;
  } finally {
    await stack.stop();
  }
};

/** One of the two processes: where calls go, while it lives. */
interface Runner {
  service: RunningService;
  side: Side;
  isUp: boolean;
}

/** As `measureRaces`; answers the result. */
export const race = async (stack: Stack, plan: { races: number; kills: number }): Promise<RaceResult> => {
  const bench = await startBilling(stack, { accounts: WAVE, history: 0 });
  bench.client.close();
  const runnerOf = (service: RunningService): Runner => ({
    ...{ service, isUp: true },
    side: overHttp({ client: openBareClient(service.internalUrl, stack.internalToken) }),
  });
  const runners = [runnerOf(bench.service), runnerOf(await bench.service.replica())];
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: 2 });
  const waves = Math.ceil(plan.races / WAVE);
  const killEvery = Math.max(1, Math.floor(waves / (plan.kills + 1)));
  const tally = { admitted: 0, breaches: 0, kills: 0, unanswered: 0 };
  let revival: Promise<void> = Promise.resolve();
  for (let wave = 1; wave <= waves; wave += 1) {
    const killed = wave % killEvery === 0 && tally.kills < plan.kills ? runners[tally.kills % 2] : undefined;
    if (killed !== undefined) {
      await revival;
      tally.kills += 1;
    }
    const racing = raceOnce(bench.accounts, runners);
    if (killed !== undefined) {
      // Somewhere in the middle of the wave, another place each time.
      setTimeout(() => (revival = killAndRevive(killed, runnerOf)), 5 * (tally.kills % 20));
    }
    const { requestIds, admitted, unanswered } = await racing;
    tally.admitted += admitted;
    tally.unanswered += unanswered;
    tally.breaches += await countBreaches(pool);
    await giveBack(pool, requestIds);
  }
  await revival;
  await pool.end();
  return { races: waves * WAVE, ...tally };
};

const raceOnce = async (accounts: readonly string[], runners: readonly Runner[]) => {
  let [admitted, unanswered] = [0, 0];
  const requestIds: string[] = [];
  await Promise.all(
    accounts.flatMap((userId, place) =>
      Array.from({ length: CONTENDERS }, async (_, contender) => {
        const requestId = newId('req');
        requestIds.push(requestId);
        const first = runners[(place + contender) % runners.length];
        for (const runner of [first, ...runners.filter((other) => other !== first)]) {
          if (runner?.isUp !== true) continue;
          const verdict = await runner.side.admit(userId, requestId).catch(() => undefined);
          if (verdict === 'admitted') admitted += 1;
          if (verdict !== undefined) return;
          unanswered += 1;
        }
      }),
    ),
  );
  return { requestIds, admitted, unanswered };
};

const killAndRevive = async (runner: Runner, runnerOf: (service: RunningService) => Runner): Promise<void> => {
  runner.isUp = false;
  process.kill(runner.service.process.pid, 'SIGKILL');
  Object.assign(runner, runnerOf(await runner.service.replica()));
};

/** Rows are counted, so that a wrong number on the account cannot hide a breach. */
const countBreaches = async (pool: pg.Pool): Promise<number> => {
  const { rows } = await pool.query<{ breaches: string }>(
    `SELECT count(*) AS breaches FROM accounts AS a LEFT JOIN (
       SELECT svc_user_id, count(*) AS held FROM reservations WHERE state = 'reserved' GROUP BY svc_user_id) AS r USING (svc_user_id)
     WHERE a.pending > $1 OR r.held > $1 OR r.held <> a.pending`,
    [PLACES],
  );
  return Number(rows[0]?.breaches);
};

const giveBack = async (pool: pg.Pool, requestIds: readonly string[]): Promise<void> => {
  await pool.query(
    "SELECT count(*) FROM settle_many($1, array_fill('released'::text, ARRAY[$2::int]), array_fill(NULL::bigint, ARRAY[$2::int]), 'EUR')",
    [requestIds, requestIds.length],
  );
};

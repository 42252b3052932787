import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import pg from 'pg';
import { overHttp, type Side, startBilling } from './billing-under-test.ts';
import { type BareClient, openBareClient } from './harness/bare-http.ts';
import { say } from './harness/report.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';

const RACES = Number(process.env['BENCH_RACES'] ?? 2_000);
const KILLS = Number(process.env['BENCH_KILLS'] ?? 4);
/** Accounts per wave of a lane. */
const WAVE = 200;
/** Concurrent waves over disjoint accounts: while one is counted, others race. */
const LANES = 3;
/** Requests that race for the two slots of one account, alternating between two processes. */
const CONTENDERS = 3;
const PLACES = 2;
/** Maximum calls for one request until one is answered; the other process is always up. */
const ATTEMPTS_MAX = 100;
const ATTEMPT_PAUSE_MS = 10;
/** Requests in one call that releases. */
const RELEASES_MAX = 300;

/** Result of the races. */
export interface RaceResult {
  readonly races: number;
  readonly admitted: number;
  /** Accounts with more holders than slots, by rows and by the account's counter. */
  readonly breaches: number;
  readonly kills: number;
  /** Calls lost with a killed process; they are repeated at the other one. */
  readonly unanswered: number;
}

/** Races for the two slots of each account from two processes, each killed in turn, and reports the result. */
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

/** One of the two processes, with its client while it runs. */
interface Runner {
  readonly service: RunningService;
  readonly client: BareClient;
  readonly side: Side;
  isUp: boolean;
}

/** Runs `measureRaces` and returns the result. */
export const race = async (stack: Stack, plan: { races: number; kills: number }): Promise<RaceResult> => {
  const bench = await startBilling(stack, { accounts: WAVE * LANES, history: 0 });
  bench.client.close();
  const runnerOf = (service: RunningService): Runner => {
    const client = openBareClient(service.internalUrl, stack.internalToken);
    return { service, client, side: overHttp({ client }), isUp: true };
  };
  const runners = [runnerOf(bench.service), runnerOf(await bench.service.replica())];
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: LANES });
  const waves = Math.ceil(plan.races / WAVE);
  const killEvery = Math.max(1, Math.floor(waves / (plan.kills + 1)));
  const tally = { admitted: 0, breaches: 0, kills: 0, unanswered: 0 };
  let begun = 0;
  let revival: Promise<void> = Promise.resolve();
  const killOne = (): void => {
    const turn = tally.kills;
    tally.kills += 1;
    const killed = runners[turn % 2];
    if (killed === undefined) return;
    // In the middle of a wave, at a different point each time, and never while the other process is down.
    revival = revival.then(() => sleep(5 * (turn % 20))).then(() => killAndRevive(killed, runnerOf));
  };
  const runLane = async (accounts: readonly string[]): Promise<void> => {
    while (begun < waves) {
      begun += 1;
      if (begun % killEvery === 0 && tally.kills < plan.kills) killOne();
      const { requestIds, admitted, unanswered } = await raceOnce(accounts, runners);
      tally.admitted += admitted;
      tally.unanswered += unanswered;
      tally.breaches += await countBreaches(pool, accounts);
      await giveBack(runners, requestIds);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => bench.accounts.slice(lane * WAVE, (lane + 1) * WAVE));
  await Promise.all(lanes.map(runLane));
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
        const asked = await askUntilAnswered(runners, place + contender, ({ side }) => side.admit(userId, requestId));
        if (asked.answer === 'admitted') admitted += 1;
        unanswered += asked.unanswered;
      }),
    ),
  );
  return { requestIds, admitted, unanswered };
};

/**
 * Calls the process whose turn it is; if it does not answer, repeats the same call at a running one, as a gateway does.
 */
const askUntilAnswered = async <Answer>(
  runners: readonly Runner[],
  turn: number,
  ask: (runner: Runner) => Promise<Answer>,
) => {
  let unanswered = 0;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const runner = runners[(turn + attempt) % runners.length];
    if (runner?.isUp !== true) continue;
    const answer = await ask(runner).catch(() => undefined);
    if (answer !== undefined) return { answer, unanswered };
    unanswered += 1;
    await sleep(ATTEMPT_PAUSE_MS);
  }
  throw new Error(`no process answered ${ATTEMPTS_MAX} calls`);
};

const killAndRevive = async (runner: Runner, runnerOf: (service: RunningService) => Runner): Promise<void> => {
  runner.isUp = false;
  process.kill(runner.service.process.pid, 'SIGKILL');
  Object.assign(runner, runnerOf(await runner.service.replica()));
};

/** Counts rows, so that a wrong counter of the account cannot hide a breach. */
const countBreaches = async (pool: pg.Pool, accounts: readonly string[]): Promise<number> => {
  const { rows } = await pool.query<{ breaches: string }>(
    `SELECT count(*) AS breaches FROM accounts AS a LEFT JOIN (
       SELECT svc_user_id, count(*) AS held FROM reservations WHERE state = 'reserved' GROUP BY svc_user_id) AS r USING (svc_user_id)
     WHERE a.svc_user_id = ANY ($2) AND (a.pending > $1 OR coalesce(r.held, 0) > $1 OR coalesce(r.held, 0) <> a.pending)`,
    [PLACES, accounts],
  );
  return Number(rows[0]?.breaches);
};

/**
 * Releases all attempted requests, even refused ones: an admission left in PostgreSQL by a killed process may commit
 * late.
 */
const giveBack = async (runners: readonly Runner[], requestIds: readonly string[]): Promise<void> => {
  for (let from = 0; from < requestIds.length; from += RELEASES_MAX) {
    const settlements = requestIds
      .slice(from, from + RELEASES_MAX)
      .map((request_id) => ({ request_id, result: { outcome: 'released' } }));
    const json = JSON.stringify({ settlements });
    await askUntilAnswered(runners, from / RELEASES_MAX, ({ client }) => client.post('/internal/settlements', json));
  }
};

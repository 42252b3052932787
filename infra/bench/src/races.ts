import { newId } from '@svc/contracts';
import pg from 'pg';
import { overshoot } from './app-budget-races.ts';
import { type KilledPair, startBilling, startKilledPair } from './billing-under-test.ts';
import { say } from './harness/report.ts';
import { type Stack, startStack } from './harness/stack.ts';

const RACES = Number(process.env['BENCH_RACES'] ?? 2_000);
const KILLS = Number(process.env['BENCH_KILLS'] ?? 4);
const SEED = Number(process.env['BENCH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** Accounts per wave of a lane. */
const WAVE = 200;
/** Concurrent waves over disjoint accounts: while one is counted, others race. */
const LANES = 3;
/** Requests that race for the two slots of one account, alternating between two processes. */
const CONTENDERS = 3;
const PLACES = 2;
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

/**
 * Races for the two slots of each account, then for the budgets of an app, from two processes that are killed in turn,
 * and reports the results.
 */
export const measureRaces = async (): Promise<void> => {
  await reportRaces();
  await reportOvershoot();
};

const reportOvershoot = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const result = await overshoot(stack, { seed: SEED, accounts: Math.ceil(RACES / 4), kills: KILLS });
    const { accounts, requests, states, overshootMicros, wrongMicros, kills, unanswered } = result;
    say(
      `${requests} requests against the budgets of ${accounts} people, ${kills} kills, ${unanswered} calls unanswered, seed ${SEED}:`,
    );
    say(`overshoot ${overshootMicros} over ${states} states of the budgets; difference to the costs ${wrongMicros}.\n`);
    if (overshootMicros > 0 || wrongMicros > 0) process.exitCode = 1;
  } finally {
    await stack.stop();
  }
};

const reportRaces = async (): Promise<void> => {
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

/** Runs `measureRaces` and returns the result. */
export const race = async (stack: Stack, plan: { races: number; kills: number }): Promise<RaceResult> => {
  const bench = await startBilling(stack, { accounts: WAVE * LANES, history: 0 });
  const pair = await startKilledPair(stack, bench);
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: LANES });
  const waves = Math.ceil(plan.races / WAVE);
  const killEvery = Math.max(1, Math.floor(waves / (plan.kills + 1)));
  const tally = { admitted: 0, breaches: 0 };
  let begun = 0;
  const runLane = async (accounts: readonly string[]): Promise<void> => {
    while (begun < waves) {
      begun += 1;
      const { kills } = pair.counts();
      // In the middle of a wave, at a different point each time.
      if (begun % killEvery === 0 && kills < plan.kills) pair.killNext(5 * (kills % 20));
      const { requestIds, admitted } = await raceOnce(accounts, pair);
      tally.admitted += admitted;
      tally.breaches += await countBreaches(pool, accounts);
      await giveBack(pair, requestIds);
    }
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => bench.accounts.slice(lane * WAVE, (lane + 1) * WAVE));
  await Promise.all(lanes.map(runLane));
  await pair.revived();
  await pool.end();
  return { races: waves * WAVE, ...tally, ...pair.counts() };
};

const raceOnce = async (accounts: readonly string[], pair: KilledPair) => {
  let admitted = 0;
  const requestIds: string[] = [];
  await Promise.all(
    accounts.flatMap((userId, place) =>
      Array.from({ length: CONTENDERS }, async (_, contender) => {
        const requestId = newId('req');
        requestIds.push(requestId);
        const answer = await pair.ask(place + contender, ({ side }) => side.admit(userId, requestId));
        if (answer === 'admitted') admitted += 1;
      }),
    ),
  );
  return { requestIds, admitted };
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

/** Account of a settlement, which its reservation names too. */
const ANYONE = newId('usr');

/**
 * Releases all attempted requests, even refused ones: an admission left in PostgreSQL by a killed process may commit
 * late.
 */
const giveBack = async (pair: KilledPair, requestIds: readonly string[]): Promise<void> => {
  for (let from = 0; from < requestIds.length; from += RELEASES_MAX) {
    const settlements = requestIds
      .slice(from, from + RELEASES_MAX)
      .map((request_id) => ({ request_id, svc_user_id: ANYONE, result: { outcome: 'released' } }));
    const json = JSON.stringify({ settlements });
    await pair.ask(from / RELEASES_MAX, ({ client }) => client.post('/internal/settlements', json));
  }
};

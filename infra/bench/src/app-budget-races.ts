import { newId } from '@svc/contracts';
import pg from 'pg';
import { type KilledPair, startBilling, startKilledPair } from './billing-under-test.ts';
import type { Stack } from './harness/stack.ts';
import { createRandom } from './harness/statistics.ts';

/** Requests of a person that run at once: more than the plan and most budgets have room for. */
const AT_ONCE = 3;
const REQUESTS_OF_A_PERSON = 18;
/** People whose requests run at once. */
const PEOPLE_AT_ONCE = 40;
const APP = newId('app');

/** Budgets, requests and costs of a run, all decided by the seed. */
export interface OvershootPlan {
  readonly seed: number;
  readonly accounts: number;
  readonly kills: number;
}

export interface OvershootResult {
  readonly accounts: number;
  readonly requests: number;
  readonly admitted: number;
  readonly refused: number;
  /** States of the budgets that were compared with their limit: all that were ever committed. */
  readonly states: number;
  /** Most that used and held amounts of one budget ever exceeded its limit. */
  readonly overshootMicros: number;
  /** Sum of the differences between the used amounts and the costs of the settled requests. */
  readonly wrongMicros: number;
  readonly kills: number;
  readonly unanswered: number;
}

interface PlannedRequest {
  readonly requestId: string;
  readonly holdMicros: number;
  /** At most the hold; null for a request that is released. */
  readonly costMicros: number | null;
}

interface PlannedPerson {
  readonly userId: string;
  readonly limitMicros: number;
  readonly requests: readonly PlannedRequest[];
}

/** Sends requests against the budgets of an app through two processes that are killed in turn. */
export const overshoot = async (stack: Stack, plan: OvershootPlan): Promise<OvershootResult> => {
  const bench = await startBilling(stack, { accounts: plan.accounts, history: 0 });
  const people = planPeople(bench.accounts, createRandom(plan.seed));
  const pool = new pg.Pool({ connectionString: bench.databaseUrl, max: 2 });
  await setBudgets(pool, people);
  const pair = await startKilledPair(stack, bench);
  const killEvery = Math.max(1, Math.floor(people.length / (plan.kills + 1)));
  const tally = { admitted: 0, refused: 0 };
  let begun = 0;
  const runLane = async (): Promise<void> => {
    for (let person = people[begun]; person !== undefined; person = people[begun]) {
      begun += 1;
      const { kills } = pair.counts();
      if (begun % killEvery === 0 && kills < plan.kills) pair.killNext(5 * (kills % 20));
      const admitted = await runPerson(pair, person);
      tally.admitted += admitted;
      tally.refused += person.requests.length - admitted;
    }
  };
  await Promise.all(Array.from({ length: PEOPLE_AT_ONCE }, runLane));
  await pair.revived();
  const read = await readResult(pool);
  await pool.end();
  const requests = people.length * REQUESTS_OF_A_PERSON;
  return { accounts: people.length, requests, ...tally, ...read, ...pair.counts() };
};

const planPeople = (accounts: readonly string[], random: () => number): PlannedPerson[] =>
  accounts.map((userId) => {
    const limitMicros = 1_000 + Math.floor(random() * 100_000);
    const requests = Array.from({ length: REQUESTS_OF_A_PERSON }, () => {
      const holdMicros = 1 + Math.floor(random() * limitMicros * 0.6);
      const costMicros = random() < 0.1 ? null : Math.floor(random() * (holdMicros + 1));
      return { requestId: newId('req'), holdMicros, costMicros };
    });
    return { userId, limitMicros, requests };
  });

/** Sets the budgets, and records every state of one, since polling could miss a wrong one. */
const setBudgets = async (pool: pg.Pool, people: readonly PlannedPerson[]): Promise<void> => {
  await pool.query(`CREATE TABLE bench_budget_states (over_micros bigint NOT NULL);
    CREATE FUNCTION bench_keep_budget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO bench_budget_states VALUES (NEW.used_micros + NEW.uncertain_micros + NEW.held_micros - NEW.limit_micros);
      RETURN NULL; END $$;
    CREATE TRIGGER bench_keep_budget AFTER INSERT OR UPDATE ON app_budgets FOR EACH ROW EXECUTE FUNCTION bench_keep_budget()`);
  await pool.query(
    `SELECT set_app_budget(t.id, $3, true, t.micros, 'total', NULL, NULL) FROM unnest($1::text[], $2::bigint[]) AS t (id, micros)`,
    [people.map(({ userId }) => userId), people.map(({ limitMicros }) => limitMicros), APP],
  );
};

/** Runs the requests of a person, some at once. Returns the number of admitted ones. */
const runPerson = async (pair: KilledPair, { userId, requests }: PlannedPerson): Promise<number> => {
  const waiting = [...requests];
  let admitted = 0;
  const runNext = async (turn: number): Promise<void> => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      if (await runRequest(pair, { userId, request, turn: turn + waiting.length })) admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, turn) => runNext(turn)));
  return admitted;
};

const runRequest = async (
  pair: KilledPair,
  { userId, request, turn }: { userId: string; request: PlannedRequest; turn: number },
): Promise<boolean> => {
  const { requestId, holdMicros, costMicros } = request;
  const admission = {
    request_id: requestId,
    svc_user_id: userId,
    client_id: APP,
    service: 'chat',
    estimate_micros: holdMicros,
    hold_micros: holdMicros,
  };
  const admissions = JSON.stringify({ requests: [admission] });
  const answer = await pair.ask(turn, ({ client }) => client.post('/internal/admission-batches', admissions));
  const isAdmitted = answer.includes('"verdict":"admitted"');
  // An admission that a killed process has left in PostgreSQL may commit late, so a refused one is released as well.
  const result =
    isAdmitted && costMicros !== null ? { outcome: 'settled', cost_micros: costMicros } : { outcome: 'released' };
  const settlements = JSON.stringify({ settlements: [{ request_id: requestId, svc_user_id: userId, result }] });
  await pair.ask(turn + 1, ({ client }) => client.post('/internal/settlements', settlements));
  return isAdmitted;
};

const readResult = async (
  pool: pg.Pool,
): Promise<Pick<OvershootResult, 'states' | 'overshootMicros' | 'wrongMicros'>> => {
  const { rows } = await pool.query<Record<'states' | 'over' | 'wrong', string>>(
    `SELECT (SELECT count(*) FROM bench_budget_states) AS states,
       (SELECT greatest(max(over_micros), 0) FROM bench_budget_states) AS over,
       (SELECT coalesce(sum(abs(b.used_micros + b.uncertain_micros + b.held_micros - coalesce(r.cost, 0))), 0)
         FROM app_budgets AS b LEFT JOIN (SELECT svc_user_id, sum(cost_micros) AS cost FROM reservations
           WHERE state = 'settled' AND client_id = $1 GROUP BY 1) AS r USING (svc_user_id)) AS wrong`,
    [APP],
  );
  const [row] = rows;
  return {
    states: Number(row?.states),
    overshootMicros: Number(row?.over),
    wrongMicros: Number(row?.wrong),
  };
};

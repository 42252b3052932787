import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import pg from 'pg';
import { type BareClient, openBareClient } from './harness/http.ts';
import type { RunningService, Stack } from './harness/stack.ts';

const SIZE = { accounts: 20_000, history: 100_000 };
const PLAN = 'standard';
const APP = newId('app');
const ADMIT = {
  name: 'admit',
  text: `SELECT * FROM admit_delegated_requests(ARRAY[$1], ARRAY[$2], ARRAY[$3], ARRAY['chat'], ARRAY[1], NULL, NULL, NULL,
    NULL, interval '7 days')`,
};
const SETTLE = {
  name: 'settle',
  text: "SELECT * FROM settle_requests(ARRAY[$1], ARRAY['settled'], ARRAY[1], '{}')",
};
/** One side of the comparison. */
export interface Side {
  readonly admit: (userId: string, requestId: string) => Promise<string>;
  readonly settle: (requestId: string) => Promise<string | null>;
}

/** A running billing with many subscribed accounts. */
export interface BillingUnderTest {
  readonly client: BareClient;
  readonly databaseUrl: string;
  readonly accounts: readonly string[];
  /** An account with two requests pending. */
  readonly full: string;
  readonly pid: number;
  /** Its process, which can start a replica on the same database. */
  readonly service: RunningService;
}

/** Starts billing with accounts that have a history, so that no query plan is based on empty tables. */
export const startBilling = async (stack: Stack, size = SIZE): Promise<BillingUnderTest> => {
  const billing = await stack.start('billing', {
    PLANS_FILE: stack.example('plans.yaml'),
    AUTH_INTERNAL_URL: 'http://127.0.0.1:9',
  });
  const accounts = Array.from({ length: size.accounts }, () => newId('usr'));
  const full = newId('usr');
  const pool = new pg.Pool({ connectionString: billing.databaseUrl, max: 1 });
  await pool.query(
    `SELECT entitle_account(id, 'active', $2, NULL, date_trunc('milliseconds', now()), 'month', now(), now() + interval '1 month')
     FROM unnest($1::text[]) AS id`,
    [[...accounts, full], PLAN],
  );
  await pool.query(
    `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, state, estimate_micros, cost_micros,
       settled_by, week_start, month_start, created_at, ended_at)
     SELECT 'req_past' || n, 'delegated', ($1::text[])[1 + n % $2], 'app_past', 'chat', 'settled', 1, 1, 'usage', now(), now(), now(), now()
     FROM generate_series(1, $3::int) AS n`,
    [accounts, size.accounts, size.history],
  );
  await pool.query('UPDATE accounts SET pending = 2 WHERE svc_user_id = $1', [full]);
  await pool.query(`CREATE FUNCTION bench_refuse_locking(p_user text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE a accounts%ROWTYPE;
    BEGIN
      SELECT * INTO a FROM accounts WHERE svc_user_id = p_user FOR NO KEY UPDATE;
      RETURN CASE WHEN a.pending >= 2 THEN 'subscription_requests_pending' ELSE 'admitted' END;
    END $$`);
  await pool.query('VACUUM ANALYZE');
  await pool.end();
  return {
    client: openBareClient(billing.internalUrl, stack.internalToken),
    databaseUrl: billing.databaseUrl,
    accounts,
    full,
    pid: billing.process.pid,
    service: billing,
  };
};

/** Account of a settlement, which its reservation names too. */
const ANYONE = newId('usr');

/** The service's internal endpoint. */
export const overHttp = ({ client }: Pick<BillingUnderTest, 'client'>): Side => ({
  admit: async (userId, requestId) => {
    const question = {
      request_id: requestId,
      svc_user_id: userId,
      client_id: APP,
      service: 'chat',
      estimate_micros: 1,
    };
    const answer = await client.post('/internal/admission-batches', JSON.stringify({ requests: [question] }));
    return /"verdict":"(\w+)"/.exec(answer)?.[1] ?? answer;
  },
  settle: async (requestId) => {
    const settlements = [
      { request_id: requestId, svc_user_id: ANYONE, result: { outcome: 'settled', cost_micros: 1 } },
    ];
    const answer = await client.post('/internal/settlements', JSON.stringify({ settlements }));
    return answer.includes('"settled"') ? 'settled' : answer;
  },
});

/** The lower bound: the same functions without the service. */
export const throughPg = (pool: pg.Pool): Side => ({
  admit: async (userId, requestId) => {
    const { rows } = await pool.query<{ verdict: string }>({ ...ADMIT, values: [requestId, userId, APP] });
    return rows[0]?.verdict ?? 'none';
  },
  settle: async (requestId) => {
    const { rows } = await pool.query<{ state: string }>({ ...SETTLE, values: [requestId] });
    return rows[0]?.state ?? null;
  },
});

/** Maximum calls for one request until one is answered; the other process is always up. */
const ATTEMPTS_MAX = 100;
const ATTEMPT_PAUSE_MS = 10;

/** One of the two processes, with its client while it runs. */
interface Runner {
  readonly service: RunningService;
  readonly client: BareClient;
  readonly side: Side;
  isUp: boolean;
}

/** Two billing processes on one database that are killed in turn. */
export interface KilledPair {
  /**
   * Calls the process whose turn it is; if it does not answer, repeats the same call at a running one, as a gateway does.
   */
  readonly ask: <Answer>(turn: number, call: (runner: Runner) => Promise<Answer>) => Promise<Answer>;
  /** Kills the next process after `delayMs`, never while the other one is down, and starts it again. */
  readonly killNext: (delayMs: number) => void;
  /** Kills so far, and calls lost with a killed process. */
  readonly counts: () => { readonly kills: number; readonly unanswered: number };
  /** Resolves when both processes are up. */
  readonly revived: () => Promise<void>;
}

/** Starts the second process beside a billing. */
export const startKilledPair = async (stack: Stack, { service, client }: BillingUnderTest): Promise<KilledPair> => {
  client.close();
  const runnerOf = (running: RunningService): Runner => {
    const own = openBareClient(running.internalUrl, stack.internalToken);
    return { service: running, client: own, side: overHttp({ client: own }), isUp: true };
  };
  const runners = [runnerOf(service), runnerOf(await service.replica())];
  let kills = 0;
  let unanswered = 0;
  let revival: Promise<void> = Promise.resolve();
  const killAndRevive = async (runner: Runner): Promise<void> => {
    runner.isUp = false;
    process.kill(runner.service.process.pid, 'SIGKILL');
    Object.assign(runner, runnerOf(await runner.service.replica()));
  };
  return {
    ask: async (turn, call) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        const runner = runners[(turn + attempt) % runners.length];
        if (runner?.isUp !== true) continue;
        const answer = await call(runner).catch(() => undefined);
        if (answer !== undefined) return answer;
        unanswered += 1;
        await sleep(ATTEMPT_PAUSE_MS);
      }
      throw new Error(`no process answered ${ATTEMPTS_MAX} calls`);
    },
    killNext: (delayMs) => {
      const killed = runners[kills % runners.length];
      kills += 1;
      if (killed !== undefined) revival = revival.then(() => sleep(delayMs)).then(() => killAndRevive(killed));
    },
    counts: () => ({ kills, unanswered }),
    revived: () => revival,
  };
};

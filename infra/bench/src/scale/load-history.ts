import { newId } from '@svc/contracts';
import pg from 'pg';
import { listMoments, listRequestMonths, type RequestMonth } from './request-months.ts';

/** One delegated request in this many has an idempotency key. */
const REQUESTS_PER_IDEMPOTENCY_KEY = 10;
/** Requests of API keys that a posting covers. */
const REQUESTS_PER_POSTING = 4;
const LOADER_SETTINGS = '-c synchronous_commit=off -c maintenance_work_mem=512MB -c work_mem=256MB';

/** Accounts of a database. */
export interface Crowd {
  readonly accounts: number;
  /** The first of these accounts, which use API keys. */
  readonly businesses: number;
}

/** Finished requests, half of them delegated. */
export interface History {
  /** Months of use, the current one included. */
  readonly months: number;
  /** Requests of the crowd. */
  readonly requests: number;
  /** Accounts whose export is measured, with the number of requests of each. */
  readonly exported: readonly string[];
  readonly requestsOfEach: number;
}

interface Loading extends Crowd, History {
  readonly pool: pg.Pool;
}

/** Ids of accounts and keys of the history, as an SQL expression of their number. */
const numbered = (prefix: 'usr' | 'key', number: string): string =>
  `'${prefix}_' || lpad(to_hex((${number})::bigint), 26, '0')`;

/** Returns evenly spaced ones of the first `among` accounts. */
export const historyAccounts = (among: number, count: number): string[] => {
  const step = Math.max(1, Math.floor(among / count));
  return Array.from({ length: Math.min(count, among) }, (_, place) => accountId(place * step));
};

const accountId = (number: number): string => `usr_${number.toString(16).padStart(26, '0')}`;

/** Creates the accounts of a history, of which the businesses have wallets. */
export const loadAccounts = async (databaseUrl: string, { accounts, businesses }: Crowd): Promise<void> =>
  withPool(databaseUrl, async (pool) => {
    await pool.query(
      `INSERT INTO accounts (svc_user_id, status, plan_id, anchor, interval, period_start, period_end, week_start, week_end, month_start, month_end)
       SELECT ${numbered('usr', 'n')}, status, plan_id, anchor, interval, period_start, period_end, week_start, week_end, month_start, month_end
       FROM (SELECT * FROM accounts LIMIT 1) AS model, generate_series(0, $1::int - 1) AS n`,
      [accounts],
    );
    await pool.query(
      `INSERT INTO wallets (svc_user_id, currency, balance_micros, created_at)
       SELECT ${numbered('usr', 'n')}, 'EUR', 1000000000000, now() FROM generate_series(0, $1::int - 1) AS n`,
      [businesses],
    );
    await pool.query('VACUUM ANALYZE');
  });

/**
 * Fills billing's tables as months of use would. A few accounts make most of the requests. Each month is written without
 * indexes, in the order of its ids, and gets them when it becomes a partition.
 */
export const loadRequests = async (databaseUrl: string, crowd: Crowd, history: History): Promise<void> =>
  withPool(databaseUrl, async (pool) => {
    const loading: Loading = { ...crowd, ...history, pool };
    const months = listRequestMonths(history.months, Date.now());
    await endOneOfEachKind(pool);
    // One connection for each kind, as attaching a partition locks its table.
    await Promise.all([loadDelegated(loading, months), loadKeyRequests(loading, months)]);
    await pool.query('VACUUM ANALYZE');
  });

const withPool = async (databaseUrl: string, run: (pool: pg.Pool) => Promise<void>): Promise<void> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2, options: LOADER_SETTINGS });
  // Expected if a failure stops the stack; that failure is reported instead.
  pool.on('error', () => undefined);
  await run(pool);
  await pool.end();
};

/** Ends a request of each kind by billing's functions, so that the history has rows like theirs. */
const endOneOfEachKind = async (pool: pg.Pool): Promise<void> => {
  const userId = accountId(0);
  const requestId = newId('req');
  await pool.query(
    `SELECT * FROM admit_delegated_requests(ARRAY[$1], ARRAY[$2], ARRAY['app_past'], ARRAY['chat'], ARRAY[400], NULL,
       ARRAY[gen_random_uuid()::text], ARRAY[500], ARRAY[500], interval '7 days')`,
    [requestId, userId],
  );
  await pool.query(`SELECT * FROM settle_requests(ARRAY[$1], ARRAY['settled'], ARRAY[300], '{}')`, [requestId]);
  const outcome = {
    request_id: newId('req'),
    svc_user_id: userId,
    key_id: newId('key'),
    outcome: 'settled',
    cost_micros: 300,
    is_unadmitted: true,
    started_at: new Date().toISOString(),
    input_tokens: 900,
    output_tokens: 300,
    service: 'chat',
    provider: 'sandbox',
    model: 'sandbox-large-2026',
    data_zone: 'eu',
    certification: 'iso27001',
    upstream_request_id: `chatcmpl-${crypto.randomUUID()}`,
  };
  await pool.query(`SELECT * FROM settle_key_requests($1::jsonb, 'EUR')`, [JSON.stringify([outcome])]);
  await pool.query('UPDATE key_requests SET lease_id = gen_random_uuid()');
};

const loadDelegated = async (loading: Loading, months: readonly RequestMonth[]): Promise<void> => {
  for (const month of months) {
    await inTransaction(loading.pool, async (client) => {
      await listRequests(client, loading, month, loading.accounts);
      await fillPartition(client, month, {
        table: 'ended_reservations',
        model: 'SELECT * FROM ended_reservations LIMIT 1',
        columns: {
          ...ofRequest(month),
          idempotency_key_hash: `CASE WHEN r.n % ${REQUESTS_PER_IDEMPOTENCY_KEY} = 0 THEN sha256(convert_to(r.request_id, 'UTF8')) END`,
        },
      });
      await fillPartition(client, month, {
        table: 'request_details',
        model: `SELECT ''::text AS request_id, 'chat' AS service, 900 AS input_tokens, 300 AS output_tokens,
          0 AS cached_input_tokens, NULL::bigint AS audio_ms`,
        columns: { request_id: 'r.request_id' },
      });
      await client.query(`
        INSERT INTO usage_days (svc_user_id, day, client_id, service, requests, cost_micros)
          SELECT svc_user_id, (created_at AT TIME ZONE 'UTC')::date, client_id, service, count(*), sum(cost_micros)
            FROM ended_reservations_${month.name} GROUP BY 1, 2, 3, 4 ORDER BY 2
          ON CONFLICT DO NOTHING`);
    });
  }
};

const loadKeyRequests = async (loading: Loading, months: readonly RequestMonth[]): Promise<void> => {
  const { pool, businesses } = loading;
  await pool.query('ALTER TABLE ledger_postings DISABLE TRIGGER USER');
  await pool.query('ALTER TABLE ledger_entries DISABLE TRIGGER USER');
  for (const month of months) {
    await inTransaction(pool, async (client) => {
      await listRequests(client, loading, month, businesses);
      await fillPartition(client, month, {
        table: 'key_requests',
        model: 'SELECT * FROM key_requests LIMIT 1',
        columns: { ...ofRequest(month), key_id: `'key' || substr(r.svc_user_id, 4)` },
      });
      await postUse(client, `key_requests_${month.name}`);
    });
  }
  await pool.query('ALTER TABLE ledger_postings ENABLE TRIGGER USER');
  await pool.query('ALTER TABLE ledger_entries ENABLE TRIGGER USER');
};

const ofRequest = (month: RequestMonth): Readonly<Record<string, string>> => ({
  request_id: 'r.request_id',
  svc_user_id: 'r.svc_user_id',
  month_start: `timestamptz '${new Date(month.fromMs).toISOString()}'`,
  created_at: 'r.at',
  ended_at: `r.at + interval '2 seconds'`,
});

/** Creates the temporary table of a month's requests, in the order of their ids. */
const listRequests = async (
  client: pg.PoolClient,
  { months, requests, exported, requestsOfEach }: Loading,
  month: RequestMonth,
  accounts: number,
): Promise<void> => {
  const { prefixes, seconds } = listMoments(month);
  const ofExported = Math.ceil((exported.length * requestsOfEach) / 2 / months);
  const count = ofExported + Math.ceil(requests / 2 / months);
  await client.query(`
    CREATE TEMP TABLE moments (n int PRIMARY KEY, prefix text, at timestamptz) ON COMMIT DROP;
    CREATE TEMP TABLE requests (n int, request_id text, svc_user_id text, at timestamptz) ON COMMIT DROP`);
  await client.query(
    `INSERT INTO moments SELECT n, prefix, to_timestamp(seconds)
       FROM unnest($1::text[], $2::float8[]) WITH ORDINALITY AS t (prefix, seconds, n)`,
    [prefixes, seconds],
  );
  await client.query('ANALYZE moments');
  await client.query(
    `INSERT INTO requests
       SELECT g.n, m.prefix || substr(md5(g.n::text), 1, 19),
           -- Spreads the exported accounts evenly.
           CASE WHEN g.n::bigint * $1 % ${count} < $1 THEN ($2::text[])[1 + g.n::bigint * $1 / ${count} % cardinality($2)]
             ELSE ${numbered('usr', `floor(${accounts} * power(random(), 3))`)} END, m.at
         FROM generate_series(1, ${count}) AS g (n) JOIN moments AS m ON m.n = 1 + g.n::bigint * ${prefixes.length - 1} / ${count}`,
    [ofExported, exported],
  );
};

/**
 * Replaces the partition of a month by one with a row like the model for each request. `columns` are the values, as expressions, that
 * differ from the model.
 */
const fillPartition = async (
  client: pg.PoolClient,
  { name, fromId, toId }: RequestMonth,
  of: { readonly table: string; readonly model: string; readonly columns: Readonly<Record<string, string>> },
): Promise<void> => {
  const partition = `${of.table}_${name}`;
  await client.query(`CREATE TEMP TABLE model ON COMMIT DROP AS ${of.model}`);
  await client.query(`DROP TABLE IF EXISTS ${partition};
    CREATE TABLE ${partition} (LIKE ${of.table} INCLUDING ALL EXCLUDING INDEXES)`);
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       AND attgenerated = '' ORDER BY attnum`,
    [partition],
  );
  const names = rows.map((column) => column.name);
  const values = names.map((column) => of.columns[column] ?? `model.${column}`);
  await client.query(
    `INSERT INTO ${partition} (${names.join(', ')}) SELECT ${values.join(', ')} FROM requests AS r CROSS JOIN model`,
  );
  await client.query(`
    ALTER TABLE ${of.table} ATTACH PARTITION ${partition} FOR VALUES FROM ('${fromId}') TO ('${toId}');
    DROP TABLE model`);
};

/** Writes what settlements of these requests leave in the ledger and in the days of use. */
const postUse = async (client: pg.PoolClient, partition: string): Promise<void> => {
  await client.query(`
    WITH posted AS (
      INSERT INTO ledger_postings (kind, reference, svc_user_id, currency, posted_at)
        SELECT 'settlement', r.request_id, r.svc_user_id, 'EUR', r.at FROM requests AS r
          WHERE r.n % ${REQUESTS_PER_POSTING} = 0 RETURNING id)
    INSERT INTO ledger_entries (posting_id, book, amount_micros)
      SELECT p.id, b.book, b.amount FROM posted AS p, (VALUES ('income', 1200), ('wallet_available', -1200)) AS b (book, amount)`);
  await client.query(`
    WITH days AS MATERIALIZED (
      SELECT svc_user_id, (ended_at AT TIME ZONE 'UTC')::date AS day, count(*) AS requests, sum(cost_micros) AS paid, max(ended_at) AS last
        FROM ${partition} GROUP BY 1, 2 ORDER BY 2),
    of_members AS (
      INSERT INTO member_usage_days (svc_user_id, day, member_id, requests, paid_micros)
        SELECT svc_user_id, day, svc_user_id, requests, paid FROM days ON CONFLICT DO NOTHING)
    INSERT INTO wallet_usage_days (svc_user_id, day, paid_micros, last_posted_at)
      SELECT svc_user_id, day, paid, last FROM days ON CONFLICT DO NOTHING`);
};

const inTransaction = async (pool: pg.Pool, run: (client: pg.PoolClient) => Promise<void>): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await run(client);
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
};

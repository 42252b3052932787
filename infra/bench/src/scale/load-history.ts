import { newId } from '@svc/contracts';
import pg from 'pg';
import { listMoments, listRequestMonths, type RequestMonth } from './request-months.ts';

/** One delegated request in this many has an idempotency key. */
const REQUESTS_PER_IDEMPOTENCY_KEY = 10;
/** Requests of API keys that a posting covers. */
const REQUESTS_PER_POSTING = 4;
/** Micros of each request. */
const COST = 300;
/** Beyond the keys that billing has numbered itself. */
const FIRST_KEY_NUMBER = 1_000;
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
  await pool.query(`SELECT * FROM settle_requests(ARRAY[$1], ARRAY['settled'], ARRAY[${COST}], '{}')`, [requestId]);
  const outcome = {
    request_id: newId('req'),
    svc_user_id: userId,
    key_id: newId('key'),
    outcome: 'settled',
    cost_micros: COST,
    is_unadmitted: true,
    started_at: new Date().toISOString(),
  };
  await pool.query(`SELECT * FROM settle_key_requests($1::jsonb, 'EUR')`, [JSON.stringify([outcome])]);
};

const loadDelegated = async (loading: Loading, months: readonly RequestMonth[]): Promise<void> => {
  for (const month of months) {
    await inTransaction(loading.pool, async (client) => {
      await listRequests(client, loading, month, loading.accounts);
      await fillPartition(client, month, {
        table: 'ended_reservations',
        key: 'request_id',
        model: 'SELECT * FROM ended_reservations LIMIT 1',
        columns: {
          request_id: 'r.request_id',
          svc_user_id: 'r.svc_user_id',
          month_start: `timestamptz '${new Date(month.fromMs).toISOString()}'`,
          created_at: 'r.at',
          ended_at: 'r.ended_at',
          idempotency_key_hash: `CASE WHEN r.n % ${REQUESTS_PER_IDEMPOTENCY_KEY} = 0 THEN sha256(convert_to(r.request_id, 'UTF8')) END`,
        },
      });
      await fillPartition(client, month, {
        table: 'request_details',
        key: 'id',
        model: 'SELECT 900 AS input_tokens, 300 AS output_tokens, 0 AS cached_input_tokens, NULL::int AS audio_ms',
        columns: { id: 'r.id' },
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
  const { pool, businesses, exported } = loading;
  const owners = `SELECT n AS number, ${numbered('usr', 'n')} AS id FROM generate_series(0, ${businesses - 1}) AS n
    UNION ALL SELECT ${businesses} + n - 1, id FROM unnest($1::text[]) WITH ORDINALITY AS t (id, n)`;
  await pool.query(
    `INSERT INTO request_keys (key_number, svc_user_id, key_id) OVERRIDING SYSTEM VALUE
       SELECT ${FIRST_KEY_NUMBER} + number, id, 'key' || substr(id, 4) FROM (${owners}) AS owners ON CONFLICT DO NOTHING`,
    [exported],
  );
  for (const month of months) {
    await inTransaction(pool, async (client) => {
      await listRequests(client, loading, month, businesses);
      await fillPartition(client, month, {
        table: 'ended_key_requests',
        key: 'id',
        model: 'SELECT * FROM ended_key_requests LIMIT 1',
        columns: {
          id: 'r.id',
          ended_at: 'r.ended_at',
          key_number: `${FIRST_KEY_NUMBER} + r.number`,
          month: `month_number('${new Date(month.fromMs).toISOString()}')`,
        },
      });
      await postUse(client);
    });
  }
};

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
    CREATE TEMP TABLE moments (n int PRIMARY KEY, prefix text, at timestamptz, bits text) ON COMMIT DROP;
    CREATE TEMP TABLE requests (n int, id uuid, request_id text, number int, svc_user_id text, at timestamptz, ended_at timestamptz)
      ON COMMIT DROP`);
  await client.query(
    `INSERT INTO moments SELECT n, prefix, to_timestamp(seconds), lpad(to_hex((seconds * 1000)::bigint), 12, '0')
       FROM unnest($1::text[], $2::float8[]) WITH ORDINALITY AS t (prefix, seconds, n)`,
    [prefixes, seconds],
  );
  await client.query('ANALYZE moments');
  // Spreads the exported accounts evenly, and numbers them after the others.
  const place = `g.n::bigint * ${ofExported}`;
  const number = `CASE WHEN ${place} % ${count} < ${ofExported} THEN ${accounts} + (${place} / ${count}) % ${exported.length}
    ELSE floor(${accounts} * power(random(), 3)) END`;
  await client.query(
    `INSERT INTO requests
       SELECT n, (bits || substr(random_digits, 1, 20))::uuid, prefix || substr(random_digits, 1, 19), number,
           CASE WHEN number < ${accounts} THEN ${numbered('usr', 'number')} ELSE ($1::text[])[1 + number - ${accounts}] END,
           at, at + interval '2 seconds'
         FROM (SELECT g.n, m.bits, m.prefix, m.at, md5(g.n::text) AS random_digits, (${number})::int AS number
           FROM generate_series(1, ${count}) AS g (n)
           JOIN moments AS m ON m.n = 1 + g.n::bigint * ${prefixes.length - 1} / ${count} OFFSET 0) AS t`,
    [exported],
  );
};

/**
 * Replaces the partition of a month by one with a row like the model for each request. `columns` are the values, as expressions, that
 * differ from the model.
 */
const fillPartition = async (
  client: pg.PoolClient,
  { name, fromId, toId, fromBits, toBits }: RequestMonth,
  of: {
    readonly table: string;
    readonly key: 'id' | 'request_id';
    readonly model: string;
    readonly columns: Readonly<Record<string, string>>;
  },
): Promise<void> => {
  const partition = `${of.table}_${name}`;
  const [from, to] = of.key === 'id' ? [fromBits, toBits] : [fromId, toId];
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
    ALTER TABLE ${of.table} ATTACH PARTITION ${partition} FOR VALUES FROM ('${from}') TO ('${to}');
    DROP TABLE model`);
};

/** Writes what settlements of these requests leave in the ledger and in the days of use. */
const postUse = async (client: pg.PoolClient): Promise<void> => {
  const paid = REQUESTS_PER_POSTING * COST;
  await client.query(`
    INSERT INTO ledger_postings (kind, svc_user_id, currency, posted_at, wallet_available_micros, income_micros)
      SELECT 'settlement', r.svc_user_id, 'EUR', r.ended_at, -${paid}, ${paid} FROM requests AS r
        WHERE r.n % ${REQUESTS_PER_POSTING} = 0`);
  await client.query(`
    WITH days AS MATERIALIZED (
      SELECT svc_user_id, (ended_at AT TIME ZONE 'UTC')::date AS day, count(*) AS requests, max(ended_at) AS last
        FROM requests GROUP BY 1, 2 ORDER BY 2),
    of_members AS (
      INSERT INTO member_usage_days (svc_user_id, day, member_id, requests, paid_micros)
        SELECT svc_user_id, day, svc_user_id, requests, requests * ${COST} FROM days ON CONFLICT DO NOTHING)
    INSERT INTO wallet_usage_days (svc_user_id, day, paid_micros, last_posted_at)
      SELECT svc_user_id, day, requests * ${COST}, last FROM days ON CONFLICT DO NOTHING`);
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

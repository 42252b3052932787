import { readStackFile } from '@svc/testing';
import pg from 'pg';
import { inject } from 'vitest';

/** Records of gateway and billing for some accounts. */
export interface Books {
  /** Usage records by outcome, with their sums. */
  readonly records: Readonly<Record<string, BookLine>>;
  /** Reservations by state, with their cost or hold. */
  readonly reservations: Readonly<Record<string, { readonly count: number; readonly micros: number }>>;
  /** Held amounts of the wallets, and the part of uncertain requests. */
  readonly heldMicros: number;
  readonly uncertainHoldsMicros: number;
}

/** Sums over usage records of one outcome. */
export interface BookLine {
  readonly count: number;
  readonly input: number;
  readonly output: number;
  readonly audioMs: number;
  readonly costMicros: number;
  readonly estimated: number;
}

type Row = Record<string, string>;

const query = async (service: string, sql: string, userIds: readonly string[]): Promise<Row[]> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  const client = new pg.Client({ connectionString: urls[service] ?? '' });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [userIds])).rows;
  } finally {
    await client.end();
  }
};

/** Reads the records of both services. */
export const readBooks = async (userIds: readonly string[]): Promise<Books> => {
  const records = await query(
    'inference-gateway',
    `SELECT outcome, count(*) AS count, coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
       coalesce(sum(audio_ms), 0) AS audio, sum(cost_micros) AS cost, count(*) FILTER (WHERE is_estimated) AS estimated
     FROM usage_records WHERE svc_user_id = ANY ($1) GROUP BY outcome`,
    userIds,
  );
  const reservations = await query(
    'billing',
    `SELECT state, count(*) AS count, sum(micros) AS micros, coalesce(sum(micros) FILTER (WHERE is_key), 0) AS holds FROM (
       SELECT state, coalesce(cost_micros, estimate_micros) AS micros, svc_user_id, false AS is_key FROM reservations
       UNION ALL SELECT state, cost_micros, svc_user_id, true FROM key_requests
       UNION ALL SELECT 'uncertain', held_micros, svc_user_id, true FROM uncertain_key_requests) AS requests
     WHERE svc_user_id = ANY ($1) GROUP BY state`,
    userIds,
  );
  const [wallets] = await query(
    'billing',
    'SELECT coalesce(sum(held_micros), 0) AS held FROM wallets WHERE svc_user_id = ANY ($1)',
    userIds,
  );
  return {
    records: Object.fromEntries(records.map((row) => [row['outcome'], toLine(row)])),
    reservations: Object.fromEntries(
      reservations.map((row) => [row['state'], { count: Number(row['count']), micros: Number(row['micros']) }]),
    ),
    heldMicros: Number(wallets?.['held']),
    uncertainHoldsMicros: Number(reservations.find(({ state }) => state === 'uncertain')?.['holds'] ?? 0),
  };
};

const toLine = (row: Row): BookLine => ({
  count: Number(row['count']),
  input: Number(row['input']),
  output: Number(row['output']),
  audioMs: Number(row['audio']),
  costMicros: Number(row['cost']),
  estimated: Number(row['estimated']),
});

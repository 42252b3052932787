import { idOf } from '@svc/contracts';
import type { Knex } from 'knex';

/** Months prepared in advance, so that records still find a partition if maintenance fails for weeks. */
const MONTHS_AHEAD = 2;
/** New partitions lock the table, and records queue behind them. The next run tries again, months before one is needed. */
const LOCK_TIMEOUT = '200ms';
/** Arbitrary key that serializes maintenance by several replicas. */
const ADVISORY_LOCK = 4_120_983;
const DAY_MS = 86_400_000;
const NO_BYTES = new Uint8Array(16);
const MONTH = /_\d{4}_\d{2}$/;

interface RequestTable {
  readonly name: string;
  readonly key: string;
  /** SQL of the key of a request id. */
  readonly keyOf: (id: string) => string;
  /** The rows of its default partition that are too old: no month tells their age. */
  readonly isTooOld: string;
}

const byBits = { key: 'id', keyOf: (id: string) => `uuid_of_id('req', '${id}')` };

/** Tables of ended requests. */
const TABLES: readonly RequestTable[] = [
  { name: 'ended_key_requests', ...byBits, isTooOld: 'ended_at < :keptSince' },
  {
    name: 'ended_reservations',
    key: 'request_id',
    keyOf: (id) => `'${id}'`,
    isTooOld: 'ended_at < :keptSince',
  },
  {
    name: 'request_details',
    ...byBits,
    isTooOld:
      "NOT EXISTS (SELECT FROM reservations AS r WHERE r.request_id = id_of_uuid('req', request_details_other.id))",
  },
];

/**
 * Creates the monthly partitions of ended requests, the last month's included, and drops those that ended more than `daysKept`
 * days ago. Request ids begin with their time, which decides on the partition. Safe to run at any time on any number of replicas.
 */
export const keepRequestPartitions = async (
  database: Knex,
  { nowMs, daysKept }: { readonly nowMs: number; readonly daysKept: number },
): Promise<void> => {
  const keptSinceMs = nowMs - daysKept * DAY_MS;
  for (const requests of TABLES) {
    const { name: table, isTooOld } = requests;
    await database.transaction(async (trx) => {
      await trx.raw('SELECT pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
      await trx.raw("SELECT set_config('lock_timeout', ?, true)", [LOCK_TIMEOUT]);
      const existing = await listPartitions(trx, table);
      for (let offset = -1; offset <= MONTHS_AHEAD; offset += 1) {
        const month = monthOf(nowMs, offset);
        if (!existing.includes(`${table}_${month.name}`)) await createPartition(trx, requests, month);
      }
      const oldestKept = `${table}_${monthOf(keptSinceMs, 0).name}`;
      for (const name of existing) if (MONTH.test(name) && name < oldestKept) await trx.raw('DROP TABLE ??', [name]);
      await trx.raw(`DELETE FROM ${table}_other WHERE ${isTooOld}`, { keptSince: new Date(keptSinceMs) });
    });
  }
};

interface Month {
  readonly name: string;
  readonly fromId: string;
  readonly toId: string;
}

const monthOf = (nowMs: number, offset: number): Month => {
  const now = new Date(nowMs);
  const firstMs = (months: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1);
  const idAt = (ms: number): string => idOf('req', ms, NO_BYTES);
  const name = new Date(firstMs(offset)).toISOString().slice(0, 7).replace('-', '_');
  return { name, fromId: idAt(firstMs(offset)), toId: idAt(firstMs(offset + 1)) };
};

const listPartitions = async (trx: Knex.Transaction, table: string): Promise<string[]> => {
  const { rows } = await trx.raw<{ rows: { name: string }[] }>(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = ?::regclass`,
    [table],
  );
  return rows.map(({ name }) => name);
};

/**
 * Creates a partition with the rows that came before it, which the default partition has. Interpolates its arguments, as DDL
 * takes no parameters. All are names of tables and numbers.
 */
const createPartition = async (
  trx: Knex.Transaction,
  { name: table, key, keyOf }: RequestTable,
  { name, fromId, toId }: Month,
): Promise<void> => {
  const partition = `${table}_${name}`;
  const from = keyOf(fromId);
  const to = keyOf(toId);
  await trx.raw(`
    CREATE TABLE ${partition} (LIKE ${table} INCLUDING ALL);
    LOCK TABLE ${table}_other IN ACCESS EXCLUSIVE MODE;
    WITH early AS (DELETE FROM ${table}_other WHERE ${key} >= ${from} AND ${key} < ${to} RETURNING *)
      INSERT INTO ${partition} SELECT * FROM early;
    ALTER TABLE ${table} ATTACH PARTITION ${partition} FOR VALUES FROM (${from}) TO (${to})`);
};

import { idOf } from '@svc/contracts';
import type { Knex } from 'knex';

/** Months prepared in advance, so that records still find a partition if maintenance fails for weeks. */
const MONTHS_AHEAD = 2;
/**
 * New partitions lock the table, and so wait for a long read, such as the export of an account. Records queue behind them
 * meanwhile, so they give up soon: the next run tries again, months before a partition is needed.
 */
const LOCK_TIMEOUT = '200ms';
/** Arbitrary key that serializes maintenance by several replicas. */
const ADVISORY_LOCK = 4_120_937;
const NO_BYTES = new Uint8Array(16);
const PARTITION = /^usage_rows_(\d{4})_(\d{2})$/;

/**
 * Creates the partitions of this month and the next two, and drops those that ended more than `monthsKept` months ago. Safe
 * to run at any time on any number of replicas.
 */
export const keepUsagePartitions = async (
  database: Knex,
  options: { readonly nowMs: number; readonly monthsKept: number },
): Promise<void> => {
  const now = new Date(options.nowMs);
  await oneAtATime(database, async (trx) => {
    const existing = await listPartitions(trx);
    for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead += 1) {
      const month = monthOf(now, ahead);
      if (!existing.includes(month.name)) await createPartition(trx, month);
    }
    const oldestKept = monthOf(now, -options.monthsKept).name;
    for (const name of existing) if (PARTITION.test(name) && name < oldestKept) await trx.raw('DROP TABLE ??', [name]);
  });
  // A request may have started in the month before that of its id.
  const oldest = monthOf(now, -options.monthsKept - 1).firstDay;
  // By then records no longer wait for the new partitions: both tables are read whole.
  await oneAtATime(database, async (trx) => {
    for (const table of ['usage_callers', 'usage_names']) await trx(table).where('last_month', '<', oldest).delete();
  });
};

/** Runs maintenance in a transaction, on one replica at a time. */
const oneAtATime = async (database: Knex, run: (trx: Knex.Transaction) => Promise<void>): Promise<void> =>
  await database.transaction(async (trx) => {
    await trx.raw('SELECT pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
    await trx.raw("SELECT set_config('lock_timeout', ?, true)", [LOCK_TIMEOUT]);
    await run(trx);
  });

interface Month {
  readonly name: string;
  readonly firstDay: string;
  readonly fromId: string;
  readonly toId: string;
}

const monthOf = (now: Date, offset: number): Month => {
  const firstMs = (months: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1);
  const idAt = (ms: number): string => idOf('req', ms, NO_BYTES);
  const firstDay = new Date(firstMs(offset)).toISOString().slice(0, 10);
  const name = `usage_rows_${firstDay.slice(0, 7).replace('-', '_')}`;
  return { name, firstDay, fromId: idAt(firstMs(offset)), toId: idAt(firstMs(offset + 1)) };
};

const listPartitions = async (trx: Knex.Transaction): Promise<string[]> => {
  const { rows } = await trx.raw<{ rows: { name: string }[] }>(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'usage_rows'::regclass`,
  );
  return rows.map(({ name }) => name);
};

/** Interpolates its arguments, as DDL takes no parameters. All three are built from numbers. */
const createPartition = async (trx: Knex.Transaction, { name, fromId, toId }: Month): Promise<void> => {
  await trx.raw(
    `CREATE TABLE ${name} PARTITION OF usage_rows FOR VALUES FROM (uuid_of_id('req', '${fromId}')) TO (uuid_of_id('req', '${toId}'))`,
  );
};

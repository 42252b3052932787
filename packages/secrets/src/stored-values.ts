import type { Knex } from 'knex';
import { createSealer } from './sealer.ts';
import { KEY_ID_BYTES, keyIdOf, type SecretKeys } from './secret-keys.ts';

/** A column whose values begin with the id of their key. Null values are skipped. */
export interface KeyedColumn {
  readonly table: string;
  readonly column: string;
  /** Primary key of the table. */
  readonly id: string;
  readonly idType: 'text' | 'uuid';
  /** Other columns that `renew` reads. */
  readonly reads?: readonly string[];
  /** Rows of the table that belong to this setting. Default: all. */
  readonly where?: Readonly<Record<string, string>>;
  /** Moves a value to the current key. */
  readonly renew: (value: Buffer, row: Readonly<Record<string, unknown>>) => Buffer;
}

/** The keys of a setting, and everything that is stored under them. */
export interface SecretUse {
  readonly keys: SecretKeys;
  readonly columns: readonly KeyedColumn[];
  /** Runs when every value is under the current key, before operators remove the other keys. Safe to repeat. */
  readonly beforeRemoval?: () => Promise<void>;
}

/** Values of one setting under one key. */
export interface StoredUnderKey {
  readonly setting: string;
  readonly keyId: string;
  readonly isConfigured: boolean;
  readonly isCurrent: boolean;
  readonly values: number;
}

const BATCH = 500;

/**
 * Creates `secret_checks`, in a migration of the service: one sealed value for each setting, so that a start with wrong keys
 * is refused even if nothing else is stored.
 */
export const secretChecksMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE secret_checks (
      setting text CONSTRAINT secret_checks_pkey PRIMARY KEY,
      sealed bytea NOT NULL
    );
    COMMENT ON TABLE secret_checks IS 'One value sealed under each list of keys, so that wrong keys are noticed at start.';
  `);
};

/** Thrown at start if values are stored under a key that is not configured. */
export class MissingSecretKey extends Error {
  override readonly name = 'MissingSecretKey';
}

/**
 * Checks that every stored value is under a configured key, and stores a check value for each setting that has none. Throws
 * MissingSecretKey, which lists every missing key.
 */
export const requireSecretKeys = async (database: Knex, uses: readonly SecretUse[]): Promise<void> => {
  const missing: string[] = [];
  for (const { keys, columns } of uses) {
    const sealed = createSealer(keys, 'check').seal(Buffer.alloc(0), keys.setting);
    await database('secret_checks').insert({ setting: keys.setting, sealed }).onConflict('setting').ignore();
    for (const column of [checkColumn(keys), ...columns]) {
      for (const id of await listKeyIds(database, column)) {
        if (keys.all.some((key) => key.id.equals(id))) continue;
        missing.push(
          `${keys.setting} lacks the key ${keyIdOf(id)}, under which ${column.table}.${column.column} holds values`,
        );
      }
    }
  }
  if (missing.length > 0) throw new MissingSecretKey(missing.join('; '));
};

/**
 * Moves stored values to the current key of their setting while the service runs. `isDone` is false if values remain, because
 * time is up or because another transaction has locked them.
 */
export const renewStoredValues = async (
  database: Knex,
  uses: readonly SecretUse[],
  { isTimeUp }: { readonly isTimeUp: () => boolean },
): Promise<{ renewed: number; isDone: boolean }> => {
  let renewed = 0;
  for (const { keys, columns, beforeRemoval } of uses) {
    for (const column of [...columns, checkColumn(keys)]) {
      for (const id of await listKeyIds(database, column)) {
        if (keys.current.id.equals(id)) continue;
        for (let count = BATCH; count === BATCH; ) {
          if (isTimeUp()) return { renewed, isDone: false };
          count = await database.transaction((trx) => renewBatch(trx, column, id));
          renewed += count;
        }
      }
      const rest = await listKeyIds(database, column);
      if (rest.some((id) => !keys.current.id.equals(id))) return { renewed, isDone: false };
    }
    await beforeRemoval?.();
  }
  return { renewed, isDone: true };
};

/** Counts the stored values by setting and key, the current key first. Lists configured keys without a value too. */
export const countStoredValues = async (database: Knex, uses: readonly SecretUse[]): Promise<StoredUnderKey[]> => {
  const listed: StoredUnderKey[] = [];
  for (const { keys, columns } of uses) {
    const configured = keys.all.map(({ id }) => keyIdOf(id));
    const counts = new Map(configured.map((id) => [id, 0]));
    for (const column of [checkColumn(keys), ...columns]) {
      const rows: { id: Buffer; values: string }[] = await selectKeyed(database, column)
        .select({ id: database.raw(KEY_ID, [column.column]) })
        .count({ values: '*' })
        .groupByRaw('1');
      for (const { id, values } of rows) counts.set(keyIdOf(id), (counts.get(keyIdOf(id)) ?? 0) + Number(values));
    }
    for (const [keyId, values] of counts) {
      const isConfigured = configured.includes(keyId);
      listed.push({ setting: keys.setting, keyId, isConfigured, isCurrent: keyId === configured[0], values });
    }
  }
  return listed;
};

const checkColumn = (keys: SecretKeys): KeyedColumn => ({
  table: 'secret_checks',
  column: 'sealed',
  id: 'setting',
  idType: 'text',
  where: { setting: keys.setting },
  renew: (value) => createSealer(keys, 'check').renew(value, keys.setting),
});

/** The index of a large table has the same expression. */
const KEY_ID = `substr(??, 1, ${KEY_ID_BYTES})`;

const selectKeyed = (database: Knex, { table, column, where = {} }: KeyedColumn): Knex.QueryBuilder =>
  database(table).where(where).whereNotNull(column);

/** Lists the ids of keys in use. Skips from one to the next by the index, however many values each key has. */
const listKeyIds = async (database: Knex, column: KeyedColumn): Promise<Buffer[]> => {
  const ids: Buffer[] = [];
  for (let last: Buffer = Buffer.alloc(0); ; ) {
    const next: { id: Buffer } | undefined = await selectKeyed(database, column)
      .select({ id: database.raw(KEY_ID, [column.column]) })
      .whereRaw(`${KEY_ID} > ?`, [column.column, last])
      .orderByRaw('1')
      .first();
    if (next === undefined) return ids;
    ids.push(next.id);
    last = next.id;
  }
};

/** Moves some values away from a key. Skips rows that other transactions have locked. */
const renewBatch = async (trx: Knex.Transaction, keyed: KeyedColumn, keyId: Buffer): Promise<number> => {
  const { table, column, id, idType, reads = [], renew } = keyed;
  const rows: Record<string, unknown>[] = await selectKeyed(trx, keyed)
    .select(id, column, ...reads)
    .whereRaw(`${KEY_ID} = ?`, [column, keyId])
    .limit(BATCH)
    .forUpdate()
    .skipLocked();
  if (rows.length === 0) return 0;
  // A keyed column holds bytes.
  const values = rows.map((row) => renew(row[column] as Buffer, row));
  await trx.raw(
    `UPDATE ?? AS t SET ?? = v.value FROM unnest(?::${idType}[], ?::bytea[]) AS v(id, value) WHERE t.?? = v.id`,
    [table, column, rows.map((row) => String(row[id])), values, id],
  );
  return rows.length;
};

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import { createDatabase } from './create-database.ts';
import { reasonOf } from './reason-of.ts';
import { setupLimits } from './setup-limits.ts';

/** An arbitrary constant: the migration runs on one database take turns on it. */
const ADVISORY_LOCK = 7_348_101_665;
/** While a migration waits for a table lock, every query behind it waits too. Failing and running again is better. */
const TABLE_LOCK_TIMEOUT_MS = 10_000;
const FILE_NAME = /^(\d{14}_[a-z0-9_]+)\.(ts|js|mjs)$/;

export interface MigrateOptions {
  readonly url: string;
  /** As for `createDatabase`. */
  readonly caFile?: string | undefined;
  /** Holds `YYYYMMDDHHMMSS_what_changes.ts` (or bundled `.js`) files, each exporting `up(knex)`. */
  readonly directory: string;
}

/** The database or the migration files are in a state from which no migration can run. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

interface Migration {
  readonly name: string;
  readonly path: string;
}

/**
 * Runs the pending migrations in order of name, each in its own transaction, and returns their names. Runs on one database
 * take turns. Throws MigrationError if one fails, a file name does not fit or newer code has migrated the database.
 */
export const migrate = async (options: MigrateOptions): Promise<string[]> => {
  const migrations = listMigrations(options.directory);
  const database = createDatabase(options.url, {
    ...setupLimits,
    applicationName: 'svc-migrate',
    caFile: options.caFile,
    poolMax: 2,
    lockTimeoutMs: TABLE_LOCK_TIMEOUT_MS,
  });
  try {
    return await withAdvisoryLock(database, () => runPending(database, migrations));
  } finally {
    await database.destroy();
  }
};

/** Returns the migrations of a directory in order. Throws MigrationError if a name does not fit. */
const listMigrations = (directory: string): Migration[] => {
  const files = readdirSync(directory).filter((file) => /\.(ts|js|mjs)$/.test(file) && !file.endsWith('.d.ts'));
  const migrations = files.map((file) => {
    const name = FILE_NAME.exec(file)?.[1];
    if (name === undefined) throw new MigrationError(`${file} is not named YYYYMMDDHHMMSS_what_changes.ts`);
    return { name, path: join(directory, file) };
  });
  return migrations.sort((a, b) => (a.name < b.name ? -1 : 1));
};

const runPending = async (database: Knex, migrations: readonly Migration[]): Promise<string[]> => {
  const migrator = database.migrate;
  const config: Knex.MigratorConfig = {
    migrationSource: {
      getMigrations: async () => [...migrations],
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: loadMigration,
    },
    // knex's own check names files only; refuseUnknown also says what to do.
    disableMigrationsListValidation: true,
  };
  const [completed] = await migrator.list(config);
  refuseUnknown(completed, migrations);
  // The advisory lock is held, so a lock row left by a killed run is stale.
  await migrator.forceFreeMigrationsLock(config);
  const [, ran] = await migrator.latest(config);
  return ran.map(String);
};

const refuseUnknown = (completed: readonly { name: string }[], migrations: readonly Migration[]): void => {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = completed.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database has migrations that this release does not know (${unknown.join(', ')}): it was migrated by newer code. ` +
      'Run that release, or a newer one.',
  );
};

const loadMigration = async (migration: Migration): Promise<Knex.Migration> => {
  const loaded: unknown = await import(pathToFileURL(migration.path).href);
  if (!isMigration(loaded)) throw new MigrationError(`${migration.name} exports no function up(knex)`);
  const up = async (knex: Knex): Promise<void> => {
    try {
      await loaded.up(knex);
    } catch (error) {
      throw new MigrationError(`${migration.name} failed: ${reasonOf(error)}`, { cause: error });
    }
  };
  return { ...loaded, up, down: refuseToGoBack };
};

/** knex requires a `down`. Ours throws: only the way forward is tested. */
const refuseToGoBack = async (): Promise<void> => {
  throw new MigrationError('migrations only go forward');
};

const isMigration = (value: unknown): value is Pick<Knex.Migration, 'up'> =>
  typeof value === 'object' && value !== null && 'up' in value && typeof value.up === 'function';

const withAdvisoryLock = async <T>(database: Knex, work: () => Promise<T>): Promise<T> => {
  return await database.transaction(async (trx) => {
    // This transaction only holds the lock, while the work runs on the pool's other connection.
    await trx.raw(`SET LOCAL lock_timeout = ${setupLimits.lockTimeoutMs}`);
    await trx.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
    await trx.raw('SELECT pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
    return await work();
  });
};

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import { setupLimits } from './connection-config.ts';
import { createDatabase } from './create-database.ts';
import { isConnectionFailure, MigrationError, reasonOf } from './postgres-errors.ts';
import { applyFunctions, createTableFunctions, readFunctions, type SqlFunction } from './sql-functions.ts';
import { NoWritableServer, readServers } from './writable-server.ts';

/** PostgreSQL refuses the connection of a process that starts, or does not answer. The message has no password. */
class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
  readonly code = 'database_unreachable';

  constructor(url: string, cause: unknown) {
    const servers = readServers(url).urls.map((each) => new URL(each));
    const hosts = servers.map(({ host }) => host).join(', ');
    const [user, name] = [servers[0]?.username ?? '', servers[0]?.pathname.slice(1) ?? ''].map(decodeURIComponent);
    // A name with several addresses fails with an AggregateError, which has no message.
    const reason = cause instanceof AggregateError ? cause.errors.map(reasonOf).join(', ') : reasonOf(cause);
    super(`DATABASE_URL: cannot connect to PostgreSQL at ${hosts} as ${user} for ${name}: ${reason}`, { cause });
  }
}

const PATIENCE_MS = 120_000;
const PAUSE_MS = 250;

interface PatienceOptions {
  /** The pool's connection string, of which failures name hosts, user and database. */
  readonly url: string;
  /** Gets the first failure, while the next attempts run. */
  readonly onWaiting?: (failure: DatabaseUnreachable) => void;
  readonly patienceMs?: number;
}

/**
 * Opens the first connection of a pool. When a process starts on a busy machine, that takes longer than any request may
 * wait: a time-out is repeated for two minutes, and so is the search among several servers, of which none takes writes
 * during a failover. Throws DatabaseUnreachable, for every other failure at once.
 */
export const connectPatiently = async (
  database: Knex,
  { url, onWaiting, patienceMs = PATIENCE_MS }: PatienceOptions,
): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.raw('SELECT 1');
      return;
    } catch (error) {
      const failure = new DatabaseUnreachable(url, error);
      if (!isPassing(error) || performance.now() > deadline) throw failure;
      if (attempt === 1) onWaiting?.(failure);
    }
    await sleep(PAUSE_MS);
  }
};

const isPassing = (error: unknown): boolean =>
  error instanceof NoWritableServer ||
  (isConnectionFailure(error) && error instanceof Error && /time(?:d ?)?out/i.test(error.message));

/** An arbitrary constant: the migration runs on one database take turns on it. */
const ADVISORY_LOCK = 7_348_101_665;
/** While a migration waits for a table lock, every query behind it waits too. Failing and running again is better. */
const TABLE_LOCK_TIMEOUT_MS = 10_000;
/** The baseline is numbered. Later migrations carry the time of their making and so come after it. */
const FILE_NAME = /^((?:0\d{3}|\d{14})_[a-z0-9_]+)\.(ts|js|mjs)$/;

export interface MigrateOptions {
  readonly url: string;
  /** As for `createDatabase`. */
  readonly caFile?: string | undefined;
  /**
   * Holds the migrations `0001_what_it_creates.ts` and `YYYYMMDDHHMMSS_what_changes.ts` (or bundled `.js`), each exporting
   * `up(knex)`, and the SQL functions `functions/*.sql`.
   */
  readonly directory: string;
}

interface Migration {
  readonly name: string;
  readonly path: string;
}

/**
 * Runs the pending migrations in order of name, each in its own transaction, then applies the functions that have changed, all
 * in one. Returns the names of both. Runs on one database take turns. Leaves a database that a newer release has migrated as it
 * is, because this release works with it. Throws DatabaseUnreachable without a connection, and MigrationError if a migration
 * fails, a file name does not fit, or the database has unknown migrations and lacks known ones.
 */
export const migrate = async (options: MigrateOptions): Promise<string[]> => {
  const migrations = listMigrations(options.directory);
  const functions = readFunctions(options.directory);
  const database = createDatabase(options.url, {
    ...setupLimits,
    applicationName: 'svc-migrate',
    caFile: options.caFile,
    poolMax: 2,
    lockTimeoutMs: TABLE_LOCK_TIMEOUT_MS,
  });
  try {
    await connectPatiently(database, { url: options.url });
    return await withAdvisoryLock(database, () => runPending(database, migrations, functions));
  } finally {
    await database.destroy();
  }
};

/** Returns the migrations of a directory in order. Throws MigrationError if a name does not fit. */
const listMigrations = (directory: string): Migration[] => {
  const files = readdirSync(directory).filter((file) => /\.(ts|js|mjs)$/.test(file) && !file.endsWith('.d.ts'));
  const migrations = files.map((file) => {
    const name = FILE_NAME.exec(file)?.[1];
    if (name === undefined)
      throw new MigrationError(`${file} is not named YYYYMMDDHHMMSS_what_changes.ts or 0001_what_it_creates.ts`);
    return { name, path: join(directory, file) };
  });
  return migrations.sort((a, b) => (a.name < b.name ? -1 : 1));
};

const runPending = async (
  database: Knex,
  migrations: readonly Migration[],
  functions: readonly SqlFunction[],
): Promise<string[]> => {
  const migrator = database.migrate;
  const config: Knex.MigratorConfig = {
    migrationSource: {
      getMigrations: async () => [...migrations],
      getMigrationName: (migration: Migration) => migration.name,
      getMigration: loadMigration,
    },
    // knex's own check would refuse a database that a newer release has migrated.
    disableMigrationsListValidation: true,
  };
  const [completed] = await migrator.list(config);
  if (isNewer(completed, migrations)) return [];
  // The advisory lock is held, so a lock row left by a killed run is stale.
  await migrator.forceFreeMigrationsLock(config);
  await createTableFunctions(database, functions);
  const [, ran] = await migrator.latest(config);
  return [...ran.map(String), ...(await applyFunctions(database, functions))];
};

/** Returns true if a newer release has migrated the database. Throws MigrationError if it is no release of this service. */
const isNewer = (completed: readonly { name: string }[], migrations: readonly Migration[]): boolean => {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = completed.map(({ name }) => name).filter((name) => !known.has(name));
  if (unknown.length === 0) return false;
  const ran = new Set(completed.map(({ name }) => name));
  const missing = migrations.map(({ name }) => name).filter((name) => !ran.has(name));
  if (missing.length === 0) return true;
  throw new MigrationError(
    `The database has migrations that this release does not know (${unknown.join(', ')}) and lacks others (${missing.join(', ')}). ` +
      'Check that DATABASE_URL names the database of this service. A database for development can be deleted instead.',
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

/** Names in an error message, so that it stays one line. */
const NAMED_MAX = 3;

/**
 * Throws MigrationError unless every migration of this release has run on the database. It has not on an empty database, on
 * one that awaits its migration, and on that of another service. More migrations than this release knows are those of a newer
 * one, which this one can work with.
 */
export const requireMigrations = async (database: Knex, directory: string): Promise<void> => {
  const known = listMigrations(directory).map((migration) => migration.name);
  const { rows } = await database.raw<{ rows: { name: string; is_migrated: boolean }[] }>(
    `SELECT current_database() AS name, to_regclass('knex_migrations') IS NOT NULL AS is_migrated`,
  );
  const [{ name = '', is_migrated: isMigrated = false } = {}] = rows;
  const ran = new Set<string>(isMigrated ? await database('knex_migrations').pluck('name') : []);
  const missing = known.filter((each) => !ran.has(each));
  if (missing.length === 0) return;
  const unknown = [...ran].filter((each) => !known.includes(each));
  const reason =
    ran.size === 0
      ? 'it is empty'
      : `it lacks ${list(missing)}${unknown.length > 0 ? `, and has ${list(unknown)} of another service or release` : ''}`;
  throw new MigrationError(
    `The database ${name} is not migrated for this release: ${reason}. ` +
      'Run the migration of this service first, and check that DATABASE_URL names its own database.',
  );
};

const list = (names: readonly string[]): string =>
  names.length <= NAMED_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMED_MAX).join(', ')} and ${names.length - NAMED_MAX} more`;

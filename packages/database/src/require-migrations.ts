import type { Knex } from 'knex';
import { listMigrations } from './migrate.ts';
import { MigrationError } from './migration-error.ts';

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

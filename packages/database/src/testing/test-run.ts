import type { Knex } from 'knex';
import { createDatabase } from '../create-database.ts';

const PREFIX = 'svct_';
/** Longer than any run: older databases belong to killed runs. */
const RUN_HOURS_MAX = 6;

/** Returns the name prefix of a run's databases. */
export const databasePrefix = (run: string): string => `${PREFIX}${run}_`;

/** Drops the databases of this run on a server that outlives it. */
export const dropDatabasesOfRun = async (adminUrl: string, run: string): Promise<void> => {
  await dropWhere(adminUrl, (name) => name.startsWith(databasePrefix(run)));
};

/** Drops databases left by killed runs. */
export const sweepOldRuns = async (adminUrl: string): Promise<void> => {
  const oldest = Date.now() / 1000 - RUN_HOURS_MAX * 3600;
  await dropWhere(adminUrl, (name) => Number.parseInt(name.slice(PREFIX.length, PREFIX.length + 6), 36) < oldest);
};

/** Runs `work` with one administrative connection. */
export const withAdmin = async <T>(adminUrl: string, work: (admin: Knex) => Promise<T>): Promise<T> => {
  const admin = createDatabase(adminUrl, { applicationName: 'svc-test-admin', poolMax: 1, statementTimeoutMs: 60_000 });
  try {
    return await work(admin);
  } finally {
    await admin.destroy();
  }
};

const dropWhere = async (adminUrl: string, isDoomed: (name: string) => boolean): Promise<void> => {
  await withAdmin(adminUrl, async (admin) => {
    const found = await admin('pg_database')
      .whereLike('datname', `${PREFIX.replace('_', '\\_')}%`)
      .select('datname');
    for (const { datname } of found) {
      if (isDoomed(datname)) await admin.raw('DROP DATABASE IF EXISTS ?? WITH (FORCE)', [datname]);
    }
  });
};

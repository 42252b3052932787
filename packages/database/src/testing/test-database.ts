import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { createDatabase } from '../create-database.ts';
import { migrate } from '../migrate.ts';
import { databasePrefix, withAdmin } from './test-run.ts';

const TEMPLATE_LOCK = 7_348_101_667;
/** A closed connection leaves the server's list with a delay. */
const LEAK_GRACE_MS = 2_000;
const LEAK_POLL_MS = 20;

/** A database of one test file. */
export interface TestDatabase {
  readonly url: string;
  readonly knex: Knex;
  /** Drops the database. Throws if a connection other than `knex` is still open. */
  readonly drop: () => Promise<void>;
}

export interface TestDatabaseOptions {
  /** Directory of migrations. Without it the database is empty. */
  readonly migrations?: string | undefined;
}

/** Clones a database from a template, which is migrated once per run and set of migrations. */
export const testDatabase = async (options: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const adminUrl = process.env['TEST_DATABASE_URL'];
  const run = process.env['SVC_TEST_RUN'];
  if (adminUrl === undefined || run === undefined) {
    throw new Error("No test server: put '@svc/database/testing/global-setup' into globalSetup of vitest.config.ts.");
  }
  const prefix = databasePrefix(run);
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  await withAdmin(adminUrl, async (admin) => {
    const { migrations } = options;
    if (migrations === undefined) {
      await admin.raw('CREATE DATABASE ??', [name]);
      return;
    }
    const template = `${prefix}tpl_${hashDirectory(migrations)}`;
    await ensureTemplate(admin, { adminUrl, template, migrations });
    await admin.raw('CREATE DATABASE ?? TEMPLATE ??', [name, template]);
  });
  const url = databaseUrl(adminUrl, name);
  const knex = createDatabase(url, { applicationName: 'svc-test' });
  return { url, knex, drop: () => dropDatabase(adminUrl, name, knex) };
};

const ensureTemplate = async (
  admin: Knex,
  { adminUrl, template, migrations }: { adminUrl: string; template: string; migrations: string },
): Promise<void> => {
  await admin.raw('SELECT pg_advisory_lock(?)', [TEMPLATE_LOCK]);
  try {
    const found = await admin('pg_database').where({ datname: template }).first('datname');
    if (found !== undefined) return;
    // Under a temporary name until complete, so that a failed migration leaves no template.
    const draft = `${template}_draft`;
    await admin.raw('DROP DATABASE IF EXISTS ?? WITH (FORCE)', [draft]);
    await admin.raw('CREATE DATABASE ??', [draft]);
    await migrate({ url: databaseUrl(adminUrl, draft), directory: migrations });
    await admin.raw('ALTER DATABASE ?? RENAME TO ??', [draft, template]);
  } finally {
    await admin.raw('SELECT pg_advisory_unlock(?)', [TEMPLATE_LOCK]);
  }
};

const dropDatabase = async (adminUrl: string, name: string, knex: Knex): Promise<void> => {
  await knex.destroy();
  await withAdmin(adminUrl, async (admin) => {
    const leaked = await connectionsTo(admin, name);
    await admin.raw('DROP DATABASE IF EXISTS ?? WITH (FORCE)', [name]);
    if (leaked.length > 0) throw new Error(`The test leaked database connections: ${leaked.join('; ')}`);
  });
};

const connectionsTo = async (admin: Knex, name: string): Promise<string[]> => {
  const deadline = Date.now() + LEAK_GRACE_MS;
  for (;;) {
    const open = await admin('pg_stat_activity')
      .where({ datname: name, backend_type: 'client backend' })
      .select('application_name', 'state', 'query');
    if (open.length === 0 || Date.now() > deadline) {
      return open.map((row) => `${row.application_name} (${row.state}): ${String(row.query).slice(0, 120)}`);
    }
    await sleep(LEAK_POLL_MS);
  }
};

const databaseUrl = (adminUrl: string, name: string): string => {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
};

const hashDirectory = (directory: string): string => {
  const hash = createHash('sha256').update(directory);
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of entries.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
};

/** A state of a database that it can go back to, as by a restore. */
export interface DatabaseMoment {
  readonly at: Date;
  /** Replaces the rows of every table by those of the moment. No process may use the database meanwhile. */
  readonly goBack: () => Promise<void>;
}

/** Keeps the rows of all tables of a test's database. */
export const databaseMoment = async (knex: Knex): Promise<DatabaseMoment> => {
  const tables: string[] = await knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  await knex.raw('DROP SCHEMA IF EXISTS moment CASCADE; CREATE SCHEMA moment');
  // One snapshot, as a backup has.
  await knex.transaction(
    async (trx) => {
      for (const table of tables) await trx.raw('CREATE TABLE ??.?? AS TABLE public.??', ['moment', table, table]);
    },
    { isolationLevel: 'repeatable read' },
  );
  return {
    at: new Date(),
    goBack: () =>
      knex.transaction(async (trx) => {
        // Neither triggers nor foreign keys: the rows are whole.
        await trx.raw('SET LOCAL session_replication_role = replica');
        await trx.raw(`TRUNCATE ${tables.map(() => 'public.??').join(', ')}`, tables);
        for (const table of tables) {
          const columns = await writableColumns(trx, table);
          const names = columns.map(() => '??').join(', ');
          await trx.raw(`INSERT INTO public.?? (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM moment.??`, [
            table,
            ...columns,
            ...columns,
            table,
          ]);
        }
      }),
  };
};

const writableColumns = async (trx: Knex.Transaction, table: string): Promise<string[]> =>
  await trx('information_schema.columns')
    .where({ table_schema: 'public', table_name: table, is_generated: 'NEVER' })
    .pluck('column_name');

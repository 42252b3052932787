import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase, MigrationError, migrate, requireMigrations } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name);
const SERVICES = join(import.meta.dirname, '../../../services');
const migrationsOf = (service: string) => join(SERVICES, service, 'migrations');

/** Checks a database that has run the migrations of one directory against another one. */
const check = async (ran: string | undefined, required: string): Promise<unknown> => {
  const url = await emptyDatabase();
  if (ran !== undefined) await migrate({ url, directory: ran });
  const database = createDatabase(url, { poolMax: 1 });
  try {
    return await requireMigrations(database, required).catch((error: unknown) => error);
  } finally {
    await database.destroy();
  }
};

test('accepts a database that has all migrations of the release, or those of a newer one', async () => {
  expect(await check(fixture('second'), fixture('second'))).toBeUndefined();
  expect(await check(fixture('second'), fixture('first'))).toBeUndefined();
});

test('refuses an empty database, and one that lacks a migration, and says what to do', async () => {
  const empty = await check(undefined, fixture('first'));
  expect(empty).toBeInstanceOf(MigrationError);
  expect(String(empty)).toMatch(
    /is not migrated for this release: it is empty\. Run the migration of this service first/,
  );
  expect(String(await check(fixture('first'), fixture('second')))).toMatch(
    /it lacks 20261002000000_add_account_note\. /,
  );
});

test.each([
  ['webhook-dispatcher', 'inference-gateway'],
  ['inference-gateway', 'webhook-dispatcher'],
])('refuses for %s the database of %s', async (service, other) => {
  expect(String(await check(migrationsOf(other), migrationsOf(service)))).toMatch(/of another service or release/);
});

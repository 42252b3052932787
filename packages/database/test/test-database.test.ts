import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../src/index.ts';
import { testDatabase } from '../src/testing/test-database.ts';

let migrations: string;
beforeAll(() => {
  migrations = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  writeFileSync(
    join(migrations, '20261001000000_create_thing.js'),
    `export const up = (knex) => knex.raw(\`
       CREATE TABLE thing (id int); INSERT INTO thing VALUES (1);
       CREATE TABLE migration_run AS SELECT gen_random_uuid() AS id;
     \`);`,
  );
});
afterAll(() => rmSync(migrations, { recursive: true }));

test('each call returns its own migrated database', async () => {
  const [one, two] = await Promise.all([testDatabase({ migrations }), testDatabase({ migrations })]);
  await one.knex('thing').insert({ id: 2 });
  expect(await one.knex('thing').orderBy('id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await two.knex('thing')).toEqual([{ id: 1 }]);
  await Promise.all([one.drop(), two.drop()]);
});

test('a second database is cloned from the template, without another run of the migrations', async () => {
  const first = await testDatabase({ migrations });
  const second = await testDatabase({ migrations });
  expect(await second.knex('migration_run')).toEqual(await first.knex('migration_run'));
  await first.drop();
  await second.drop();
});

test('a database without migrations is empty', async () => {
  const database = await testDatabase();
  const { rows } = await database.knex.raw(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`);
  expect(rows).toEqual([]);
  await database.drop();
});

test('a leaked connection fails the test, and the database is dropped nevertheless', async () => {
  const database = await testDatabase({ migrations });
  const leaked = createDatabase(database.url, { applicationName: 'the-culprit' });
  await leaked.raw('SELECT 42');
  await expect(database.drop()).rejects.toThrow(/the-culprit.*SELECT 42/);
  await leaked.destroy();
  const late = createDatabase(database.url);
  await expect(late.raw('SELECT 1')).rejects.toThrow(/does not exist/);
  await late.destroy();
});

test('a failing migration leaves no partial template', async () => {
  const broken = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  const file = join(broken, '20261001000000_break.js');
  writeFileSync(file, `export const up = (knex) => knex.raw('SELECT no_such_function()');`);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(testDatabase({ migrations: broken })).rejects.toThrow(/no_such_function/);
  }
  rmSync(broken, { recursive: true });
});

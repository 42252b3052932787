import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase, dumpSchema, MigrationError, migrate } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name);

test('runs pending migrations in order and returns their names', async () => {
  const url = await emptyDatabase();
  expect(await migrate({ url, directory: fixture('first') })).toEqual([
    '20261001000000_create_ledger',
    'refuse_change',
  ]);
  expect(await migrate({ url, directory: fixture('second') })).toEqual(['20261002000000_add_account_note']);
  expect(await migrate({ url, directory: fixture('second') })).toEqual([]);
});

test('runs the numbered baseline before the migrations that carry a time', async () => {
  const url = await emptyDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  const names = ['0001_things', '0002_more_things', '20261201000000_add_note'];
  for (const name of names) writeFileSync(join(directory, `${name}.js`), 'export const up = () => {}');
  expect(await migrate({ url, directory })).toEqual(names);
  rmSync(directory, { recursive: true });
});

test('runs each migration once if several runs start together', async () => {
  const url = await emptyDatabase();
  const runs = await Promise.all([1, 2, 3].map(() => migrate({ url, directory: fixture('second') })));
  expect(runs.flat()).toEqual(['20261001000000_create_ledger', '20261002000000_add_account_note', 'refuse_change']);
});

test('leaves a database that a newer release has migrated as it is, so that operators can go back', async () => {
  const url = await emptyDatabase();
  await migrate({ url, directory: fixture('second') });
  const before = await dumpSchema(url);
  expect(await migrate({ url, directory: fixture('first') })).toEqual([]);
  expect(await dumpSchema(url)).toBe(before);
  expect(await migrate({ url, directory: fixture('second') })).toEqual([]);
});

test('refuses a database with unknown migrations that lacks known ones', async () => {
  const url = await emptyDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  writeFileSync(join(directory, '0001_of_another_service.js'), 'export const up = () => {}');
  await migrate({ url, directory });
  await expect(migrate({ url, directory: fixture('first') })).rejects.toThrow(
    /does not know \(0001_of_another_service\) and lacks others \(20261001000000_create_ledger\)/,
  );
  rmSync(directory, { recursive: true });
});

test('rolls a failed migration back, and the next run starts with it', async () => {
  const url = await emptyDatabase();
  await expect(migrate({ url, directory: fixture('broken') })).rejects.toThrow(/^\d+_\w+ failed: .*no_such_function/);
  const database = createDatabase(url);
  expect(await database.schema.hasTable('half')).toBe(false);
  await database.destroy();
  expect(await migrate({ url, directory: fixture('first') })).toContain('20261001000000_create_ledger');
});

test('runs after a run that was killed while it held the lock row', async () => {
  const url = await emptyDatabase();
  await migrate({ url, directory: fixture('first') });
  const database = createDatabase(url);
  await database('knex_migrations_lock').update({ is_locked: 1 });
  await database.destroy();
  expect(await migrate({ url, directory: fixture('second') })).toHaveLength(1);
});

test('refuses a file whose name has neither a number nor a timestamp, and one without up', async () => {
  const url = await emptyDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  writeFileSync(join(directory, 'add_things.js'), 'export const up = () => {}');
  await expect(migrate({ url, directory })).rejects.toThrow(MigrationError);
  rmSync(join(directory, 'add_things.js'));
  writeFileSync(join(directory, '20261001000000_nothing.js'), 'export const down = 1');
  await expect(migrate({ url, directory })).rejects.toThrow(/exports no function up/);
  rmSync(directory, { recursive: true });
});

test('treats a source file and its bundled form as one migration', async () => {
  const url = await emptyDatabase();
  await migrate({ url, directory: fixture('first') });
  const directory = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
  cpSync(fixture('first'), directory, { recursive: true, filter: (path) => !path.endsWith('.ts') });
  writeFileSync(join(directory, '20261001000000_create_ledger.js'), 'export const up = () => { throw new Error() }');
  expect(await migrate({ url, directory })).toEqual([]);
  rmSync(directory, { recursive: true });
});

test('dumps columns, constraints, indexes and triggers in a stable order, without functions', async () => {
  const [one, two] = await Promise.all([emptyDatabase(), emptyDatabase()]);
  for (const url of [one, two]) await migrate({ url, directory: fixture('second') });
  const schema = await dumpSchema(one);
  expect(await dumpSchema(two)).toBe(schema);
  await expect(schema).toMatchFileSnapshot('fixtures/schema.sql');
});

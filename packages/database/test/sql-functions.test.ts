import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Knex } from 'knex';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, MigrationError, migrate } from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

const TABLE = `export const up = (knex) => knex.raw(\`
  CREATE TABLE item (id int PRIMARY KEY, price int NOT NULL CHECK (is_price(price)), total int NOT NULL DEFAULT item_count());
  CREATE TRIGGER item_kept BEFORE DELETE ON item FOR EACH ROW EXECUTE FUNCTION refuse_delete();
\`)`;
const USED_BY_TABLES = {
  'functions/used_by_tables/is_price.sql':
    'CREATE OR REPLACE FUNCTION is_price(price int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT price > 0 $$;',
  'functions/used_by_tables/item_count.sql':
    'CREATE OR REPLACE FUNCTION item_count() RETURNS int LANGUAGE sql STABLE AS $$ SELECT count(*)::int FROM item $$;',
  'functions/used_by_tables/refuse_delete.sql': `CREATE OR REPLACE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'items stay'; END $$;`,
};
const PRICE_OF = `-- Returns the price of an item.
  CREATE OR REPLACE FUNCTION price_of(p_id int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT price FROM item WHERE id = p_id $$;`;
const DOUBLE_PRICE = `CREATE OR REPLACE FUNCTION double_price(p_id int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT 2 * price_of(p_id) $$;`;

let directory: string;
let url: string;
let database: Knex;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-functions-'));
  url = await emptyDatabase();
  database = createDatabase(url);
});

afterEach(async () => {
  await database.destroy();
  rmSync(directory, { recursive: true });
});

const write = (files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
};
const writeAll = (): void =>
  write({
    '0001_items.js': TABLE,
    ...USED_BY_TABLES,
    'functions/double_price.sql': DOUBLE_PRICE,
    'functions/price_of.sql': PRICE_OF,
  });
const run = () => migrate({ url, directory });
const evaluate = async (sql: string): Promise<unknown> => (await database.raw(`SELECT ${sql} AS value`)).rows[0].value;
const countOf = (name: string) => evaluate(`(SELECT count(*)::int FROM pg_proc WHERE proname = '${name}')`);

test('applies functions that call each other in any order, those of tables before the tables, and returns their names', async () => {
  writeAll();
  expect(await run()).toEqual(['0001_items', 'is_price', 'item_count', 'refuse_delete', 'double_price', 'price_of']);
  await database.raw('INSERT INTO item (id, price) VALUES (1, 5)');
  expect(await evaluate('double_price(1)')).toBe(10);
  await expect(database.raw('INSERT INTO item (id, price) VALUES (2, 0)')).rejects.toThrow(/item_price_check/);
  await expect(database.raw('DELETE FROM item')).rejects.toThrow(/items stay/);
});

test('applies a function again only if its text has changed', async () => {
  writeAll();
  await run();
  expect(await run()).toEqual([]);
  write({
    'functions/price_of.sql': PRICE_OF.replace('SELECT price', "SELECT coalesce('{}'::jsonb ? 'a', true)::int + price"),
  });
  expect(await run()).toEqual(['price_of']);
  await database.raw('INSERT INTO item (id, price) VALUES (1, 5)');
  expect(await evaluate('double_price(1)')).toBe(10);
});

test('changes a function of a table that exists after the migrations, which may add what it reads', async () => {
  writeAll();
  await run();
  write({
    '20261201000000_add_floor.js': "export const up = (knex) => knex.raw('CREATE TABLE floor AS SELECT 3 AS price')",
    'functions/used_by_tables/item_count.sql': USED_BY_TABLES['functions/used_by_tables/item_count.sql'].replace(
      'item $',
      'floor $',
    ),
  });
  expect(await run()).toEqual(['20261201000000_add_floor', 'item_count']);
  expect(await evaluate('item_count()')).toBe(1);
});

test.each([
  ['arguments', 'price_of(p_id int, p_times int)', 'price_of(1, 2)'],
  ['results', 'price_of(p_id int, OUT price bigint)', 'price_of(1)'],
  ['names of arguments', 'price_of(item_id int)', 'price_of(item_id => 1)'],
])('replaces a function whose %s change, and leaves no other of its name', async (_what, signature, call) => {
  writeAll();
  await run();
  const returns = signature.includes('OUT') ? 'bigint' : 'int';
  write({
    'functions/price_of.sql': `CREATE OR REPLACE FUNCTION ${signature} RETURNS ${returns} LANGUAGE sql AS $$ SELECT 7::${returns} $$;`,
    'functions/double_price.sql': DOUBLE_PRICE.replace('2 * price_of(p_id)', '8'),
  });
  expect(await run()).toEqual(['double_price', 'price_of']);
  expect([await evaluate(call), await countOf('price_of')]).toEqual([7, 1]);
});

test('drops a function whose file is gone, and no function that a migration made', async () => {
  writeAll();
  write({
    '0002_helper.js': "export const up = (knex) => knex.raw('CREATE FUNCTION own() RETURNS int LANGUAGE sql RETURN 1')",
  });
  await run();
  rmSync(join(directory, 'functions/double_price.sql'));
  expect(await run()).toEqual(['double_price']);
  expect([await countOf('double_price'), await countOf('own')]).toEqual([0, 1]);
  expect(await run()).toEqual([]);
});

test('applies all changed functions or none, and names the one that does not fit the schema', async () => {
  writeAll();
  await run();
  write({
    'functions/double_price.sql': DOUBLE_PRICE.replace('2 *', '3 *'),
    'functions/price_of.sql': PRICE_OF.replace('SELECT price', 'SELECT cost'),
  });
  await expect(run()).rejects.toThrow(/function price_of failed: column "cost" does not exist/);
  await database.raw('INSERT INTO item (id, price) VALUES (1, 5)');
  expect(await evaluate('double_price(1)')).toBe(10);
});

test('refuses another signature for a function that a table uses', async () => {
  writeAll();
  await run();
  const text = USED_BY_TABLES['functions/used_by_tables/is_price.sql'].replace('price int', 'price bigint');
  write({ 'functions/used_by_tables/is_price.sql': text });
  await expect(run()).rejects.toThrow(/function is_price failed: cannot drop .* because other objects depend on it/);
  expect(await countOf('is_price')).toBe(1);
});

test('applies each function once if several runs start together', async () => {
  writeAll();
  const runs = await Promise.all([run(), run(), run()]);
  expect(runs.filter((names) => names.length > 0)).toHaveLength(1);
});

test.each([
  ['functions/other.sql', PRICE_OF, /other.sql must define the function other and nothing else/],
  ['functions/price_of.sql', PRICE_OF + DOUBLE_PRICE, /must define the function price_of and nothing else/],
  ['functions/price_of.sql', PRICE_OF.replace('price_of', 'public.price_of'), /without a schema/],
  ['functions/Price Of.sql', PRICE_OF, /is not named like_a_function/],
  [
    'functions/is_price.sql',
    USED_BY_TABLES['functions/used_by_tables/is_price.sql'],
    /two files define the function is_price/,
  ],
])('refuses %s if it defines something else', async (path, text, reason) => {
  writeAll();
  write({ [path]: text });
  await expect(run()).rejects.toThrow(MigrationError);
  await expect(run()).rejects.toThrow(reason);
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { faultsOf } from './support/migration-faults.ts';

const SERVICES = new URL('../../../services/', import.meta.url);

/**
 * Migrations after the baseline run while the previous release still serves, so they only add, and keep no request waiting.
 * Exceptions are listed here, for example `billing/20270101000000_drop_notes`, with the reason why no released code misses it.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

const migrations = readdirSync(SERVICES, { recursive: true })
  .map(String)
  .filter((path) => /^[\w-]+\/migrations\/\d{14}_\w+\.ts$/.test(path))
  .map((path) => [path.replace('/migrations/', '/').replace(/\.ts$/, ''), path] as const);

describe('migrations after the baseline take nothing from the code that runs, and do not block it', () => {
  test.each(migrations)('%s', (name, path) => {
    const faults = faultsOf(readFileSync(new URL(path, SERVICES), 'utf8'));
    if (EXCEPTIONS[name] === undefined) expect(faults).toEqual([]);
    else expect(faults, 'has no fault: take it off the list').not.toEqual([]);
  });

  test('each exception is a migration', () => {
    const names = migrations.map(([name]) => name);
    expect(Object.keys(EXCEPTIONS).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('the check itself', () => {
  test.each([
    ['DROP TABLE old;', 'drops a table'],
    ['ALTER TABLE apps DROP COLUMN name;', 'drops a column'],
    ['DROP VIEW old;', 'drops a type'],
    ['ALTER TABLE apps RENAME COLUMN name TO title;', 'renames'],
    ['ALTER TABLE apps ALTER COLUMN name TYPE varchar(10);', 'changes a type'],
    ['ALTER TABLE apps ALTER name SET NOT NULL;', 'demands a value'],
    [
      'ALTER TABLE apps ADD COLUMN a text NOT NULL, ADD b int NOT NULL DEFAULT 1;',
      'adds a column that demands a value',
    ],
    ['CREATE INDEX a ON apps (name);', 'builds an index without CONCURRENTLY'],
    ['CREATE TABLE b (c int); CREATE UNIQUE INDEX a ON apps (name);', 'builds an index without CONCURRENTLY'],
    ['DROP INDEX a;', 'drops an index without CONCURRENTLY'],
    ['ALTER TABLE apps ADD CONSTRAINT a UNIQUE (name);', 'builds an index for a constraint'],
    ["knex.schema.alterTable('apps', (table) => table.index(['name']))", 'builds an index for a constraint'],
    ["ALTER TABLE apps ADD CONSTRAINT a CHECK (name <> '');", 'checks all rows'],
    ['ALTER TABLE apps ADD FOREIGN KEY (owner) REFERENCES accounts (id);', 'checks all rows'],
    ['ALTER TABLE apps ADD COLUMN owner text REFERENCES accounts (id);', 'checks all rows of a new column'],
    ['ALTER TABLE apps ADD COLUMN id uuid DEFAULT gen_random_uuid();', 'rewrites the table'],
    ['ALTER TABLE apps ADD COLUMN size int GENERATED ALWAYS AS (length(name)) STORED;', 'rewrites the table'],
    ['CREATE INDEX CONCURRENTLY a ON apps (name);', 'uses CONCURRENTLY in a transaction'],
    ["UPDATE apps SET name = '';", 'changes rows in one transaction'],
    ["UPDATE apps AS a SET name = '' FROM b;", 'changes rows in one transaction'],
    ['DELETE FROM apps;', 'changes rows in one transaction'],
    ['CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1;', 'defines a function'],
  ])('%s', (text, fault) => expect(faultsOf(text)).toEqual([fault]));

  test.each([
    'CREATE TABLE a (b text NOT NULL UNIQUE, CONSTRAINT c CHECK (b IS NOT NULL)); CREATE INDEX d ON a (b);',
    'ALTER TABLE apps ADD COLUMN a text, ADD COLUMN b boolean NOT NULL DEFAULT false, ADD COLUMN c int DEFAULT 1 NOT NULL;',
    'ALTER TABLE a ALTER COLUMN b DROP NOT NULL; ALTER TABLE a DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (b IS NOT NULL) NOT VALID;',
    'ALTER TABLE a VALIDATE CONSTRAINT c;',
    'ALTER TABLE apps ADD CONSTRAINT a UNIQUE USING INDEX b;',
    "export const config = { transaction: false };\nawait knex.raw('CREATE INDEX CONCURRENTLY a ON apps (name)');",
    "export const config = { transaction: false };\nUPDATE apps SET name = '' WHERE client_id IN (SELECT client_id FROM batch);",
    'CREATE TRIGGER t AFTER UPDATE OF name ON apps FOR EACH ROW EXECUTE FUNCTION f();',
    '/** Never updates: UPDATE apps SET name = 1. */ CREATE TABLE a (b int); -- DROP TABLE c',
  ])('finds nothing in: %s', (text) => expect(faultsOf(text)).toEqual([]));
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const SERVICES = new URL('../../../services/', import.meta.url);

/**
 * Migrations run while the previous release still serves, so they only add. Those that take something away are listed here with
 * the reason why no released code misses it: it was added since, or the previous release no longer uses it.
 */
const CONTRACTIONS: Record<string, string> = {
  'billing/20261121231000_group_settlement':
    'settle_one and wallet_settle were called by functions of the schema alone',
  'billing/20261122014000_check_ledger_by_statement': 'ledger_assert_* were called by triggers alone',
  'billing/20261122014100_decide_key_admissions_by_set': 'wallet_hold was called by functions of the schema alone',
  'billing/20261126210000_settle_in_one_pass': 'usage_days_follow was called by a trigger alone',
  'billing/20261126212000_fill_wallet_usage_days': 'wallet_usage_days_start is a note between two migrations',
  'billing/20261125020000_move_sandbox_payments': 'views of the old names take the place of the tables',
};

/** Changes that fail for code that still runs. */
const CONTRACTING: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['drops a table', /\bDROP\s+TABLE\b|\bdropTable/i],
  ['drops a column', /\bDROP\s+COLUMN\b|\bdropColumn/i],
  ['drops a function', /\bDROP\s+FUNCTION\b/i],
  ['drops a type', /\bDROP\s+(TYPE|VIEW|DOMAIN)\b/i],
  ['renames', /\bRENAME\b|\brename(Table|Column)/i],
  ['changes a type', /\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b|\.alter\(\)/i],
  ['demands a value', /\bSET\s+NOT\s+NULL\b|\bdropNullable/i],
  [
    'adds a column that demands a value',
    /\bADD\s+(COLUMN\s+)?(?!CONSTRAINT\b)\w+\s+\w[^,;]*\bNOT\s+NULL\b(?![^,;]*\b(DEFAULT|GENERATED)\b)(?<!\bDEFAULT\b[^,;]*)/i,
  ],
];

/** Finds the faults in a migration's text. Tables that it creates itself do not count. */
const faultsOf = (text: string): string[] => {
  const statements = text.replaceAll(/--.*$/gm, '').replaceAll(/CREATE (UNLOGGED )?TABLE[^;]*;/gi, '');
  return CONTRACTING.filter(([, pattern]) => pattern.test(statements)).map(([what]) => what);
};

const migrations = readdirSync(SERVICES, { recursive: true })
  .map(String)
  .filter((path) => /^[\w-]+\/migrations\/\d{14}_\w+\.ts$/.test(path))
  .map((path) => [path.replace('/migrations/', '/').replace(/\.ts$/, ''), path] as const);

describe('migrations take nothing from the code that runs', () => {
  test.each(migrations)('%s', (name, path) => {
    const faults = faultsOf(readFileSync(new URL(path, SERVICES), 'utf8'));
    if (CONTRACTIONS[name] === undefined) expect(faults).toEqual([]);
    else expect(faults, 'contracts nothing: take it off the list').not.toEqual([]);
  });

  test('each exception is a migration', () => {
    const names = migrations.map(([name]) => name);
    expect(Object.keys(CONTRACTIONS).filter((name) => !names.includes(name))).toEqual([]);
  });
});

describe('the check itself', () => {
  test.each([
    ['DROP TABLE old;', 'drops a table'],
    ['ALTER TABLE apps DROP COLUMN name;', 'drops a column'],
    ['DROP FUNCTION f(text);', 'drops a function'],
    ['ALTER TABLE apps RENAME COLUMN name TO title;', 'renames'],
    ['ALTER TABLE apps ALTER COLUMN name TYPE varchar(10);', 'changes a type'],
    ['ALTER TABLE apps ALTER name SET NOT NULL;', 'demands a value'],
    [
      'ALTER TABLE apps ADD COLUMN a text NOT NULL, ADD b int NOT NULL DEFAULT 1;',
      'adds a column that demands a value',
    ],
  ])('%s', (text, fault) => expect(faultsOf(text)).toEqual([fault]));

  test.each([
    'CREATE TABLE a (b text NOT NULL, CONSTRAINT c CHECK (b IS NOT NULL)); DROP INDEX d;',
    'ALTER TABLE apps ADD COLUMN a text, ADD COLUMN b boolean NOT NULL DEFAULT false, ADD COLUMN c int DEFAULT 1 NOT NULL;',
    'ALTER TABLE a ALTER COLUMN b DROP NOT NULL; ALTER TABLE a DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (b IS NOT NULL) NOT VALID;',
    'CREATE OR REPLACE FUNCTION f() RETURNS trigger AS $$ BEGIN NEW.a := 1; END $$;',
  ])('finds nothing in: %s', (text) => expect(faultsOf(text)).toEqual([]));
});

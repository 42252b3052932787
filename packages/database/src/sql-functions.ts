import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Knex } from 'knex';
import { isInvalidFunctionDefinition, MigrationError, reasonOf } from './postgres-errors.ts';

const FOLDER = 'functions';
const FOLDER_OF_TABLES = join(FOLDER, 'used_by_tables');
const FILE_NAME = /^([a-z][a-z0-9_]*)\.sql$/;
const DEFINITION = /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\s+([\w.]+)/gi;
/** Checks the body of a function against the schema, as `CREATE FUNCTION` does by default. */
const VALIDATORS: Readonly<Record<string, string>> = { sql: 'fmgr_sql_validator', plpgsql: 'plpgsql_validator' };

/** A function of a service, the only one in its file. It is applied as it stands whenever its text has changed. */
export interface SqlFunction {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** Checks, defaults, indexes or triggers call it, so it has to exist before its table. */
  readonly isUsedByTables: boolean;
}

/** Reads the functions of a directory. Throws MigrationError if a file defines anything but the function it is named after. */
export const readFunctions = (directory: string): SqlFunction[] => {
  const ofTables = readFolder(join(directory, FOLDER_OF_TABLES), true);
  const others = readFolder(join(directory, FOLDER), false);
  const twice = others.find(({ name }) => ofTables.some((one) => one.name === name));
  if (twice !== undefined) throw new MigrationError(`two files define the function ${twice.name}`);
  return [...ofTables, ...others];
};

/** A function as the database has it. */
interface Defined {
  readonly name: string;
  /** Name and types of the arguments. */
  readonly signature: string;
  readonly language: string;
}

/** Creates the functions that tables call and that are missing. Those that exist change after the migrations. */
export const createTableFunctions = async (database: Knex, functions: readonly SqlFunction[]): Promise<void> => {
  const needed = functions.filter(({ isUsedByTables }) => isUsedByTables);
  if (needed.length === 0) return;
  await database.transaction(async (trx) => {
    // The tables that the bodies read may not exist yet.
    await trx.raw('SET LOCAL check_function_bodies = off');
    const existing = new Set((await listDefined(trx, needed)).map(({ name }) => name));
    for (const one of needed.filter(({ name }) => !existing.has(name))) await define(trx, one);
  });
};

/**
 * Applies the functions whose text has changed and drops those whose file is gone, in one transaction. Returns their names.
 * Throws MigrationError if one cannot be applied, or does not fit the schema.
 */
export const applyFunctions = async (database: Knex, functions: readonly SqlFunction[]): Promise<string[]> => {
  if (functions.length === 0 && !(await database.schema.hasTable('applied_functions'))) return [];
  return await database.transaction(async (trx) => {
    await trx.raw('CREATE TABLE IF NOT EXISTS applied_functions (name text PRIMARY KEY, checksum text NOT NULL)');
    const rows: { name: string; checksum: string }[] = await trx('applied_functions').select('name', 'checksum');
    const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
    const changed = functions.filter(({ name, checksum }) => applied.get(name) !== checksum);
    const names = new Set(functions.map(({ name }) => name));
    const gone = rows.map(({ name }) => name).filter((name) => !names.has(name));
    // Bodies are checked once all functions are there, so their order does not matter.
    await trx.raw('SET LOCAL check_function_bodies = off');
    const defined = Map.groupBy(
      await listDefined(trx, [...functions, ...gone.map((name) => ({ name }))]),
      ({ name }) => name,
    );
    for (const one of changed) await replace(trx, one, defined.get(one.name) ?? []);
    for (const name of gone) await drop(trx, defined.get(name) ?? []);
    await trx.raw('SET LOCAL check_function_bodies = on');
    for (const one of await listDefined(trx, functions)) await validate(trx, one);
    await trx('applied_functions').whereIn('name', gone).delete();
    const records = changed.map(({ name, checksum }) => ({ name, checksum }));
    if (records.length > 0) await trx('applied_functions').insert(records).onConflict('name').merge();
    return [...changed.map(({ name }) => name), ...gone];
  });
};

const readFolder = (folder: string, isUsedByTables: boolean): SqlFunction[] => {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return entries
    .map(({ name: file }) => {
      const name = FILE_NAME.exec(file)?.[1];
      if (name === undefined)
        throw new MigrationError(`${file} in ${basename(folder)} is not named like_a_function.sql`);
      const text = readFileSync(join(folder, file), 'utf8');
      const defined = [...text.replaceAll(/--.*$/gm, '').matchAll(DEFINITION)].map(([, found]) => found);
      if (defined.length !== 1 || defined[0] !== name) {
        throw new MigrationError(`${file} must define the function ${name} and nothing else, without a schema`);
      }
      return { name, text, checksum: createHash('sha256').update(text).digest('hex'), isUsedByTables };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Applies a new text. A changed signature replaces the old one instead of standing beside it. */
const replace = async (trx: Knex.Transaction, one: SqlFunction, before: readonly Defined[]): Promise<void> => {
  if (before.length === 0) return define(trx, one);
  try {
    // A savepoint, since a failed statement would end the transaction.
    await trx.transaction((savepoint) => define(savepoint, one));
  } catch (error) {
    if (!(error instanceof MigrationError && isInvalidFunctionDefinition(error.cause))) throw error;
    await drop(trx, before);
    await define(trx, one);
  }
  if ((await listDefined(trx, [one])).length > 1) await drop(trx, before);
};

const define = (trx: Knex.Transaction, { name, text }: SqlFunction): Promise<void> =>
  run(trx, name, text.replaceAll('?', '\\?'));

const drop = async (trx: Knex.Transaction, all: readonly Defined[]): Promise<void> => {
  for (const { name, signature } of all) await run(trx, name, `DROP ROUTINE ${signature}`);
};

const validate = async (trx: Knex.Transaction, { name, signature, language }: Defined): Promise<void> => {
  const validator = VALIDATORS[language];
  if (validator === undefined) throw new MigrationError(`function ${name} is written in ${language}`);
  await run(trx, name, `SELECT ${validator}(?::regprocedure)`, [signature]);
};

const run = async (trx: Knex.Transaction, name: string, sql: string, values: readonly string[] = []): Promise<void> => {
  try {
    await trx.raw(sql, values);
  } catch (error) {
    throw new MigrationError(`function ${name} failed: ${reasonOf(error)}`, { cause: error });
  }
};

const listDefined = async (
  trx: Knex.Transaction,
  functions: readonly Pick<SqlFunction, 'name'>[],
): Promise<Defined[]> => {
  const { rows } = await trx.raw<{ rows: Defined[] }>(
    `SELECT p.proname AS name, p.oid::regprocedure::text AS signature, l.lanname AS language
     FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
     WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = ANY (?) ORDER BY p.proname, p.oid`,
    [functions.map(({ name }) => name)],
  );
  return rows;
};

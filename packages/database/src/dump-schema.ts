import type { Knex } from 'knex';
import { createDatabase } from './create-database.ts';
import * as catalog from './schema-catalog.ts';

/** Tables of the migration runner, the same in every database. */
const RUNNER_TABLES = new Set(['knex_migrations', 'knex_migrations_lock', 'applied_functions']);
const HEADER =
  '-- Generated from the migrated database: do not edit. Functions are in migrations/functions, one file each.\n';

/**
 * Returns types, tables, indexes and triggers of a schema as readable SQL in a stable order, read from the catalogs. Functions
 * have files of their own. A service commits it as `schema.sql` and compares it in a test. It is for readers, not for a restore.
 */
export const dumpSchema = async (url: string, schema = 'public'): Promise<string> => {
  const database = createDatabase(url, { applicationName: 'svc-dump-schema', poolMax: 1 });
  try {
    // The queries of the catalog read the current schema. The pool's one connection keeps the setting.
    await database.raw('SET search_path TO ??', [schema]);
    const sections = [
      await catalog.listExtensions(database),
      await catalog.listTypes(database),
      await catalog.listSequences(database),
      await describeTables(database),
      await catalog.listViews(database),
    ];
    return `${[HEADER, ...sections.flat()].join('\n')}`;
  } finally {
    await database.destroy();
  }
};

const describeTables = async (database: Knex): Promise<string[]> => {
  const tables = (await catalog.listTables(database)).filter((table) => !RUNNER_TABLES.has(table.name));
  const columns = await catalog.listColumns(database);
  const constraints = await catalog.listConstraints(database);
  const extras = [...(await catalog.listIndexes(database)), ...(await catalog.listTriggers(database))];
  return tables.map((table) => {
    const of = (items: readonly catalog.TableItem[]) =>
      items.filter((item) => item.table === table.name).map((item) => item.definition);
    const body = [...of(columns), ...of(constraints)].map((line) => `  ${line}`).join(',\n');
    const parent = table.partitionOf === null ? '' : ` -- partition of ${table.partitionOf} ${table.bound}`;
    const key = table.partitionKey === null ? '' : ` PARTITION BY ${table.partitionKey}`;
    const unlogged = table.unlogged ? 'UNLOGGED ' : '';
    const create = `CREATE ${unlogged}TABLE ${table.name} (${parent}\n${body}\n)${key}${table.options};\n`;
    return [create, ...of(extras).map((definition) => `${definition};\n`)].join('');
  });
};

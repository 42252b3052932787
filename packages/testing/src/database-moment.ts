import type { Knex } from 'knex';

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

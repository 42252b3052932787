import type { Knex } from 'knex';

/** A part of an export: a statement whose rows become JSON objects. `:id` is bound to the subject of the export. */
export interface ExportSection {
  readonly name: string;
  readonly sql: string;
}

/** Rows in memory at one time. */
const BATCH_ROWS = 500;

/**
 * Writes the rows of all sections as one JSON object, `{"<section>": [row, …], …}`, from one snapshot of the database.
 * Waits for each `write`, so that a slow reader is not buffered.
 */
export const streamSections = async (
  database: Knex,
  sections: readonly ExportSection[],
  { id, write }: { readonly id: string; readonly write: (text: string) => Promise<void> },
): Promise<void> => {
  await database.transaction(
    async (trx) => {
      await write('{');
      for (const [index, { name, sql }] of sections.entries()) {
        await trx.raw(`DECLARE section NO SCROLL CURSOR FOR SELECT to_jsonb(s) AS row FROM (${sql}) AS s`, { id });
        await write(`${index === 0 ? '' : ','}${JSON.stringify(name)}:[`);
        for (let isFirst = true; ; isFirst = false) {
          const { rows }: { rows: { row: unknown }[] } = await trx.raw(`FETCH ${BATCH_ROWS} FROM section`);
          const text = rows.map(({ row }) => JSON.stringify(row)).join(',');
          if (text !== '') await write(`${isFirst ? '' : ','}${text}`);
          if (rows.length < BATCH_ROWS) break;
        }
        await trx.raw('CLOSE section');
        await write(']');
      }
      await write('}');
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
};

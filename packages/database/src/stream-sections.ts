import type { DatabaseOptions } from './connection-config.ts';
import { openSession } from './open-session.ts';

/** A part of an export: a statement whose rows become JSON objects. `$1` is bound to the subject of the export. */
export interface ExportSection {
  readonly name: string;
  readonly sql: string;
}

/** Rows in memory at one time. */
const BATCH_ROWS = 500;
/** Billing's reservations have no index by person, because requests never read them that way. */
const STATEMENT_TIMEOUT_MS = 120_000;

/**
 * Writes the rows of all sections as one JSON object, `{"<section>": [row, …], …}`, from one snapshot of the database.
 * Waits for each `write`, so that a slow reader is not buffered. Has a connection outside the pool, so that exports never
 * keep requests waiting for one. Rejects if `write` takes longer than a transaction may be idle.
 */
export const streamSections = async (
  database: { readonly url: string } & Pick<DatabaseOptions, 'caFile'>,
  sections: readonly ExportSection[],
  { id, write }: { readonly id: string; readonly write: (text: string) => Promise<void> },
): Promise<void> => {
  const options = { caFile: database.caFile, applicationName: 'export', statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const session = await openSession(database.url, options);
  try {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await write('{');
    for (const [index, { name, sql }] of sections.entries()) {
      await session.query(`DECLARE section NO SCROLL CURSOR FOR SELECT to_jsonb(s) AS row FROM (${sql}) AS s`, [id]);
      await write(`${index === 0 ? '' : ','}${JSON.stringify(name)}:[`);
      for (let isFirst = true; ; isFirst = false) {
        const rows = await session.query<{ row: unknown }>(`FETCH ${BATCH_ROWS} FROM section`);
        const text = rows.map(({ row }) => JSON.stringify(row)).join(',');
        if (text !== '') await write(`${isFirst ? '' : ','}${text}`);
        if (rows.length < BATCH_ROWS) break;
      }
      await session.query('CLOSE section');
      await write(']');
    }
    await write('}');
    await session.query('COMMIT');
  } finally {
    await session.close();
  }
};

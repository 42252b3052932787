import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { csvLine } from '@svc/contracts';
import { HANDLED, type Reply } from './binding.ts';

const CSV = 'text/csv';
const JSON_TYPE = 'application/json';

/** Returns the media types that a header names and does not refuse, the preferred ones first (RFC 9110 section 12.5.1). */
const acceptedTypes = (header: string): readonly string[] =>
  header
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';');
      const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return { type: type.trim(), weight: Number(weight ?? 1) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ type }) => type);

/** Returns true if the `Accept` header names CSV, and prefers it to JSON. */
export const prefersCsv = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  acceptedTypes(headers.accept ?? '').find((type) => type === CSV || type === JSON_TYPE) === CSV;

/** Rows of one page of a file, and the cursor of the page after it; undefined after the last one. */
interface CsvPage<T> {
  readonly rows: readonly T[];
  readonly next: string | undefined;
}

/**
 * Sends all pages as a CSV file, with one page in memory and backpressure from the caller. A page that cannot be read after
 * the first one ends the connection.
 */
export const sendCsv = async <T>(
  { res, signal }: { readonly res: ServerResponse; readonly signal: AbortSignal },
  file: {
    readonly name: string;
    readonly titles: readonly string[];
    readonly cellsOf: (row: T) => Parameters<typeof csvLine>[0];
    readonly readPage: (after: string | undefined) => Promise<CsvPage<T>>;
  },
): Promise<Reply> => {
  let page = await file.readPage(undefined);
  res.writeHead(200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${file.name}"`,
  });
  let text = csvLine(file.titles);
  for (;;) {
    text += page.rows.map((row) => csvLine(file.cellsOf(row))).join('');
    if (!res.write(text)) await once(res, 'drain', { signal });
    if (page.next === undefined) break;
    page = await file.readPage(page.next);
    text = '';
  }
  res.end();
  return HANDLED;
};

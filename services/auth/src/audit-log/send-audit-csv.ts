import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import type { AuditEntry, AuditPage } from './read-audit-log.ts';

type Cell = string | null | undefined;

/** Columns in file order. */
const COLUMNS: Readonly<Record<string, (entry: AuditEntry) => Cell>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  actor_id: ({ actor }) => actor?.svc_user_id,
  actor_name: ({ actor }) => actor?.name,
  action: ({ action }) => action,
  target_type: ({ target }) => target.type,
  target_id: ({ target }) => target.id,
  target_name: ({ target }) => target.name,
  source: ({ source }) => source,
};

/** Spreadsheets execute cells with these first characters as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

/** Streams all pages as CSV (RFC 4180), with one page in memory and backpressure from the caller. */
export const sendAuditCsv = async (
  { res, signal }: Pick<RequestContext<never>, 'res' | 'signal'>,
  readPage: (after: string | undefined) => Promise<AuditPage>,
): Promise<Reply> => {
  let page = await readPage(undefined);
  res.writeHead(200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit-log.csv"',
  });
  let text = `${Object.keys(COLUMNS).join(',')}\r\n`;
  for (;;) {
    text += page.entries.map(toLine).join('');
    if (!res.write(text)) await once(res, 'drain', { signal });
    if (!page.hasMore) break;
    page = await readPage(page.entries.at(-1)?.id);
    text = '';
  }
  res.end();
  return HANDLED;
};

const toLine = (entry: AuditEntry): string =>
  `${Object.values(COLUMNS)
    .map((read) => toCell(read(entry) ?? ''))
    .join(',')}\r\n`;

const toCell = (value: string): string => {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Returns true if the `Accept` header lists CSV, and not JSON before it. */
export const prefersCsv = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => {
  const types = (headers.accept ?? '').split(',').map((part) => part.split(';', 1)[0]?.trim().toLowerCase());
  const place = types.indexOf('text/csv');
  const json = types.indexOf('application/json');
  return place !== -1 && (json === -1 || place < json);
};

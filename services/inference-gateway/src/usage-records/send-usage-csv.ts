import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { gatewayUsageRecordSchema } from '@svc/contracts';
import { HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import type { z } from 'zod';
import type { UsagePosition } from './queries.ts';

type UsageRecordShown = z.output<typeof gatewayUsageRecordSchema>;

/** A page of the usage list. `last` is undefined for the last page. */
export interface UsagePage {
  readonly records: readonly UsageRecordShown[];
  readonly last: UsagePosition | undefined;
}

type ReadPage = (after: UsagePosition | undefined, limit: number) => Promise<UsagePage>;

/** Columns in file order. A field that is missing here fails to compile. */
const COLUMNS = Object.keys({
  request_id: true,
  started_at: true,
  key_id: true,
  model: true,
  upstream_model: true,
  service: true,
  provider: true,
  route_id: true,
  data_zone: true,
  ingress_region: true,
  upstream_request_id: true,
  input_tokens: true,
  cached_input_tokens: true,
  output_tokens: true,
  reasoning_tokens: true,
  cost_micros: true,
  status: true,
  state: true,
  streamed: true,
  first_event_ms: true,
  duration_ms: true,
} satisfies Record<keyof UsageRecordShown, true>) as (keyof UsageRecordShown)[];

/** Limit of request states in one call to billing. */
const PAGE_RECORDS = 100;
/** Spreadsheets execute cells with these first characters as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

/** Streams all pages as CSV (RFC 4180), with one page in memory and backpressure from the caller. */
export const sendUsageCsv = async (
  { res, signal }: Pick<RequestContext<never>, 'res' | 'signal'>,
  readPage: ReadPage,
): Promise<Reply> => {
  let page = await readPage(undefined, PAGE_RECORDS);
  res.writeHead(200, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="usage.csv"',
  });
  let text = `${COLUMNS.join(',')}\r\n`;
  for (;;) {
    text += page.records.map(toLine).join('');
    if (!res.write(text)) await once(res, 'drain', { signal });
    if (page.last === undefined) break;
    page = await readPage(page.last, PAGE_RECORDS);
    text = '';
  }
  res.end();
  return HANDLED;
};

const toLine = (record: UsageRecordShown): string => `${COLUMNS.map((name) => toCell(record[name])).join(',')}\r\n`;

const toCell = (value: string | number | boolean | null): string => {
  if (typeof value !== 'string') return String(value ?? '');
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

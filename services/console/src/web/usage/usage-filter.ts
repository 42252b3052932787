import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Answer, type ApiClient, useApi } from '../api/index.ts';
import type { UsageRead, UsageRecord } from './daily-usage.ts';

/** Selectable periods, in days up to today. */
export const RANGE_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

/** A selectable period. */
export type Range = keyof typeof RANGE_DAYS;

export const RANGES: readonly Range[] = ['days7', 'days30', 'days90'];

/** Selectable HTTP statuses. */
export const STATUSES = [
  '200',
  '400',
  '402',
  '403',
  '404',
  '409',
  '422',
  '429',
  '499',
  '500',
  '502',
  '503',
  '504',
] as const;

/** Selection of usage records. Empty texts select all. */
export interface UsageFilter {
  readonly range: Range;
  readonly keyId: string;
  readonly model: string;
  readonly status: '' | (typeof STATUSES)[number];
}

const DEFAULT_RANGE: Range = 'days30';

/** Reads a filter from the query of the page's address. Unknown values select all. */
export const readFilter = (search: URLSearchParams): UsageFilter => ({
  range: RANGES.find((range) => range === `days${search.get('days')}`) ?? DEFAULT_RANGE,
  keyId: search.get('key') ?? '',
  model: search.get('model') ?? '',
  status: STATUSES.find((status) => status === search.get('status')) ?? '',
});

/** Writes a filter as the query of the page's address, without what is the default. */
export const writeFilter = ({ range, keyId, model, status }: UsageFilter): URLSearchParams => {
  const days = range === DEFAULT_RANGE ? '' : String(RANGE_DAYS[range]);
  return new URLSearchParams(Object.entries({ days, key: keyId, model, status }).filter(([, value]) => value !== ''));
};

/** Returns the first instant of a UTC day, `days` before that of `now`. Invoices, wallet and other charts count by UTC days too. */
export const startOfDay = (now: Date, days: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - days));

/** Query of the usage list. */
export interface UsageQuery {
  readonly from: string;
  readonly key_id?: string;
  readonly model?: string;
  readonly status?: number;
}

/** Returns the query of a filter, for its period and as many before it as are asked for. It stays the same all day long, so that answers can be cached. */
export const toQuery = ({ range, keyId, model, status }: UsageFilter, now: Date, periods = 1): UsageQuery => ({
  from: startOfDay(now, periods * RANGE_DAYS[range] - 1).toISOString(),
  ...(keyId === '' ? {} : { key_id: keyId }),
  ...(model === '' ? {} : { model }),
  ...(status === '' ? {} : { status: Number(status) }),
});

const PAGE_RECORDS = 50;
const CHART_PAGE_RECORDS = 100;
/** The chart is a sketch: it reads no more than this, and says so. */
export const CHART_RECORDS_MAX = 2_000;

/** The records of a filter, page by page, newest first. */
export const useUsagePages = (filter: UsageFilter, now: Date) => {
  const { call } = useApi();
  const query = toQuery(filter, now);
  return useInfiniteQuery({
    queryKey: ['listGatewayUsage', 'pages', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call('listGatewayUsage', { query: { ...query, limit: PAGE_RECORDS, after: pageParam } }, signal),
    getNextPageParam: cursorAfter,
  });
};

/** All records of a filter and of the period before, as far as the chart reads them. */
export const useUsageRecords = (filter: UsageFilter, now: Date) => {
  const { call } = useApi();
  const query = toQuery(filter, now, 2);
  return useQuery({
    queryKey: ['listGatewayUsage', 'chart', query],
    queryFn: ({ signal }) => readAll(call, query, signal),
  });
};

const readAll = async (
  call: ApiClient['call'],
  query: ReturnType<typeof toQuery>,
  signal: AbortSignal,
): Promise<UsageRead> => {
  const records: UsageRecord[] = [];
  let after: string | undefined;
  do {
    const page = await call('listGatewayUsage', { query: { ...query, limit: CHART_PAGE_RECORDS, after } }, signal);
    records.push(...page.data);
    after = cursorAfter(page);
  } while (after !== undefined && records.length < CHART_RECORDS_MAX);
  return { records, isWhole: after === undefined };
};

const cursorAfter = ({ data, has_more }: Answer<'listGatewayUsage'>): string | undefined =>
  has_more ? data.at(-1)?.request_id : undefined;

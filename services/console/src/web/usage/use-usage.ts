import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Answer, type ApiClient, useApi } from '../api/index.ts';
import type { UsageRead, UsageRecord } from './daily-usage.ts';
import { toQuery, type UsageFilter } from './usage-filter.ts';

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

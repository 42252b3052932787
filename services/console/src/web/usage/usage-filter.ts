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

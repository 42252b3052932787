import type { ItemOf } from '../api/index.ts';
import { RANGE_DAYS, type Range, startOfDay } from './usage-filter.ts';

/** Metadata of one request with an API key. */
export type UsageRecord = ItemOf<'listGatewayUsage'>;

/** Use of one day. */
export interface DailyUsage {
  /** Begin of the day in the person's own calendar. */
  readonly day: Date;
  cost: number;
  requests: number;
  tokens: number;
}

/** Sums records by day, oldest first, with the days on which there was nothing. */
export const sumByDay = (records: readonly UsageRecord[], range: Range, now: Date): DailyUsage[] => {
  const count = RANGE_DAYS[range];
  const days = Array.from({ length: count }, (_, index): DailyUsage => {
    return { day: startOfDay(now, count - 1 - index), cost: 0, requests: 0, tokens: 0 };
  });
  const byTime = new Map(days.map((day) => [day.day.getTime(), day]));
  for (const record of records) {
    const day = byTime.get(startOfDay(new Date(record.started_at), 0).getTime());
    if (day === undefined) continue;
    day.requests += 1;
    day.cost += record.cost_micros ?? 0;
    day.tokens += (record.input_tokens ?? 0) + (record.output_tokens ?? 0);
  }
  return days;
};

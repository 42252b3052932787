import { expect, test } from 'vitest';
import { type AppDay, firstDay, toChartData } from './analytics.tsx';

const names = { succeeded: 'Answered', failed: 'Failed', connected: 'New', accepted: 'Accepted', refused: 'Refused' };
const day = (date: string, counts: Partial<AppDay> = {}): AppDay => ({
  day: date,
  connections: 0,
  requests: 0,
  errors: 0,
  deliveries: 0,
  deliveries_failed: 0,
  ...counts,
});

test('separates failed requests from answered ones, and the period before', () => {
  const days = [day('2026-11-26', { requests: 4 }), day('2026-11-27', { requests: 10, errors: 3 })];
  expect(toChartData(days, 'requests', names)).toEqual({
    days: [new Date(2026, 10, 27)],
    series: [
      { id: 'succeeded', name: 'Answered', values: [7] },
      { id: 'failed', name: 'Failed', values: [3] },
    ],
    before: [4],
  });
  expect(toChartData(days, 'deliveries', names).series).toEqual([]);
});

test('asks for the period before as well', () => {
  expect(firstDay('days7', new Date('2026-11-27T23:00:00Z'))).toBe('2026-11-14');
});

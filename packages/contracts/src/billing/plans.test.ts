import { expect, test } from 'vitest';
import { anniversaryPeriod } from './plans.ts';

const on = (day: string): Date => new Date(`${day}T12:00:00.000Z`);

test.each([
  { anchor: '2026-01-31', months: 1, at: '2026-02-20', start: '2026-01-31', end: '2026-02-28' },
  { anchor: '2026-01-31', months: 1, at: '2026-02-28', start: '2026-02-28', end: '2026-03-31' },
  { anchor: '2024-02-29', months: 12, at: '2026-05-01', start: '2026-02-28', end: '2027-02-28' },
  { anchor: '2024-02-29', months: 12, at: '2028-02-29', start: '2028-02-29', end: '2029-02-28' },
  { anchor: '2026-03-10', months: 1, at: '2026-01-15', start: '2026-01-10', end: '2026-02-10' },
])(
  'returns $start to $end for $at, with an anchor of $anchor and periods of $months months',
  ({ anchor, months, at, start, end }) => {
    expect(anniversaryPeriod(on(anchor), months, on(at))).toEqual({ start: on(start), end: on(end) });
  },
);

test('counts the end of a period as the start of the next', () => {
  const { end } = anniversaryPeriod(on('2026-01-31'), 1, on('2026-02-28'));
  expect(anniversaryPeriod(on('2026-01-31'), 1, new Date(end.getTime() - 1)).end).toEqual(end);
  expect(anniversaryPeriod(on('2026-01-31'), 1, end).start).toEqual(end);
});

import { expect, test } from 'vitest';
import { type ChartSeries, joinEmptyDays, limitSeries, percentChange, toCsv, totalsOf } from './chart-data.ts';

const seriesOf = (name: string, ...values: number[]): ChartSeries => ({ id: name, name, values });

test('keeps the five largest series, adds up the others and drops empty ones', () => {
  const series = [1, 9, 0, 3, 4, 5, 6, 7].map((value) => seriesOf(`app ${value}`, value, value));
  expect(limitSeries(series, 'Others')).toEqual([
    ...[9, 7, 6, 5, 4].map((value) => seriesOf(`app ${value}`, value, value)),
    { id: 'others', name: 'Others', values: [4, 4] },
  ]);
  expect(limitSeries(series.slice(0, 7), 'Others').map(({ name }) => name)).not.toContain('Others');
});

test('joins days without use into runs', () => {
  expect(joinEmptyDays([0, 0, 5, 0, 7, 0, 0, 0])).toEqual([
    { first: 0, last: 1, isEmpty: true },
    { first: 2, last: 2, isEmpty: false },
    { first: 3, last: 3, isEmpty: true },
    { first: 4, last: 4, isEmpty: false },
    { first: 5, last: 7, isEmpty: true },
  ]);
  expect(joinEmptyDays([])).toEqual([]);
});

test('compares with the previous period, which may be empty', () => {
  expect(percentChange(15, 10)).toBe(50);
  expect(percentChange(0, 10)).toBe(-100);
  expect(percentChange(15, 0)).toBeUndefined();
});

test('writes CSV in which no name is a formula', () => {
  const chart = {
    days: [new Date(2026, 2, 1), new Date(2026, 2, 2)],
    series: [seriesOf('=SUM(A1)', 1, 0), seriesOf('Notes, "beta"', 2, 0), seriesOf('Me; =1;＠b', 0, 0)],
    before: undefined,
  };
  expect(totalsOf(chart)).toEqual([3, 0]);
  expect(toCsv(chart, { day: 'Day', total: 'Total' }, (value) => value.toFixed(1))).toBe(
    `Day,'=SUM(A1),"Notes, ""beta""",Me;' =1;'＠b,Total\r\n2026-03-01,1.0,2.0,0.0,3.0\r\n2026-03-02,0.0,0.0,0.0,0.0\r\n`,
  );
});

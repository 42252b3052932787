import { expect, test } from 'vitest';
import { layOut } from './lay-out.ts';

const place = { width: 400, height: 226, sayShort: String };
const days = [new Date(2026, 2, 1), new Date(2026, 2, 2)];

test('stacks the series of a day to the height of its total', () => {
  const series = [
    { id: 'a', name: 'a', values: [60, 0] },
    { id: 'b', name: 'b', values: [40, 20] },
  ];
  const { bars, bottom, top, ticks } = layOut({ days, series, before: [10, 100] }, place);
  expect(bars.map(({ series: index, day }) => [index, day])).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
  ]);
  expect(bars[0]?.y).toBe((bars[1]?.y ?? 0) + (bars[1]?.height ?? 0));
  expect(bars[1]?.y).toBe(top);
  expect((bars[2]?.y ?? 0) + (bars[2]?.height ?? 0)).toBe(bottom);
  expect(ticks.map(({ text }) => text)).toEqual(['0', '20', '40', '60', '80', '100']);
});

test('draws an empty chart without any space', () => {
  const { bars, ticks, before } = layOut({ days: [], series: [], before: undefined }, { ...place, width: 0 });
  expect([bars, before]).toEqual([[], undefined]);
  expect(ticks.map(({ text }) => text)).toEqual(['0']);
});

import { expect, test } from 'vitest';
import { type DailyUse, laterHalf, sumByApp, toChartData, useOf } from './plan-history-card.tsx';

const nothing = { requests: 0, cost_micros: 0 };
const dayOf = (day: string, apps: DailyUse['apps']): DailyUse => ({
  day,
  requests: 9,
  cost_micros: 90,
  apps,
  services: { chat: nothing, audio_transcription: nothing },
});
const days = [
  dayOf('2026-11-19', [
    { client_id: 'app_a', requests: 1, cost_micros: 5 },
    { client_id: 'app_b', requests: 2, cost_micros: 4 },
  ]),
  dayOf('2026-11-20', [{ client_id: 'app_b', requests: 3, cost_micros: 6 }]),
];

test('counts a day for all apps or one, and sums apps over days, the most expensive first', () => {
  expect(days.map((day) => useOf(day, undefined).cost)).toEqual([90, 90]);
  expect(days.map((day) => useOf(day, 'app_a').requests)).toEqual([1, 0]);
  expect(sumByApp(days)).toEqual([
    { clientId: 'app_b', requests: 5, cost: 10 },
    { clientId: 'app_a', requests: 1, cost: 5 },
  ]);
});

const names = { apps: new Map([['app_a', 'Notes']]), former: 'App no longer connected', others: 'Others' };

test('stacks the current period by app, with former apps as one series', () => {
  const history = [dayOf('2026-11-17', []), dayOf('2026-11-18', []), ...days];
  expect(laterHalf(history)).toEqual(days);
  expect(toChartData(history, { measure: 'requests', clientId: undefined }, names)).toEqual({
    days: [new Date(2026, 10, 19), new Date(2026, 10, 20)],
    series: [
      { id: 'former', name: 'App no longer connected', values: [8, 9] },
      { id: 'app_a', name: 'Notes', values: [1, 0] },
    ],
    before: [9, 9],
  });
});

test('charts a single app', () => {
  const { series, before } = toChartData([...days, ...days], { measure: 'cost', clientId: 'app_b' }, names);
  expect(series).toEqual([{ id: 'app_b', name: 'App no longer connected', values: [4, 6] }]);
  expect(before).toEqual([4, 6]);
});

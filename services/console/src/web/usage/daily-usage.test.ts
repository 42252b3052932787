import { expect, test } from 'vitest';
import { stackByDay, type UsageRecord, type UsageView } from './daily-usage.ts';

const now = new Date(Date.UTC(2026, 10, 20, 15, 30));

const record = (at: Date, cost: number | null): UsageRecord => ({
  request_id: 'req_1',
  key_id: 'key_1',
  model: 'svc-chat',
  upstream_model: null,
  service: 'chat',
  provider: null,
  route_id: null,
  data_zone: null,
  ingress_region: 'local',
  upstream_request_id: null,
  input_tokens: 10,
  output_tokens: cost === null ? null : 5,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_micros: cost,
  status: 200,
  state: 'settled',
  streamed: false,
  started_at: at.toISOString(),
  first_event_ms: null,
  duration_ms: 1,
});

const view: UsageView = {
  measure: 'cost',
  range: 'days7',
  othersName: 'Others',
  seriesOf: ({ model }) => model ?? '',
};
const records = [
  record(new Date(Date.UTC(2026, 10, 20, 0, 0, 0)), 7),
  record(new Date(Date.UTC(2026, 10, 19, 23, 59, 59)), 5),
  { ...record(new Date(Date.UTC(2026, 10, 19, 1)), 3), model: 'svc-large' },
  record(new Date(Date.UTC(2026, 10, 13, 23)), 100),
  record(new Date(Date.UTC(2026, 10, 6, 23)), 1_000),
];

test('counts each request on its day in UTC, by model, and separates the previous period', () => {
  const { data, isWhole } = stackByDay({ records, isWhole: true }, view, now);
  expect(isWhole).toBe(true);
  expect(data.days).toHaveLength(7);
  expect(data.days.at(-1)).toEqual(new Date(2026, 10, 20));
  expect(data.series).toEqual([
    { id: 'svc-chat', name: 'svc-chat', values: [0, 0, 0, 0, 0, 5, 7] },
    { id: 'svc-large', name: 'svc-large', values: [0, 0, 0, 0, 0, 3, 0] },
  ]);
  expect(data.before).toEqual([0, 0, 0, 0, 0, 0, 100]);
});

test('counts requests and tokens', () => {
  const totals = (['requests', 'tokens'] as const).map(
    (measure) => stackByDay({ records, isWhole: true }, { ...view, measure }, now).data.series[0]?.values,
  );
  expect(totals).toEqual([
    [0, 0, 0, 0, 0, 1, 1],
    [0, 0, 0, 0, 0, 15, 15],
  ]);
});

test('does not compare with a period that was not read completely', () => {
  const beforeTheEnd = stackByDay({ records, isWhole: false }, view, now);
  expect([beforeTheEnd.isWhole, beforeTheEnd.data.before]).toEqual([true, undefined]);
  expect(stackByDay({ records: records.slice(0, 2), isWhole: false }, view, now).isWhole).toBe(false);
});

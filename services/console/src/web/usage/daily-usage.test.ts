import { describe, expect, test } from 'vitest';
import { sumByDay, type UsageRecord } from './daily-usage.ts';

const now = new Date(2026, 10, 20, 15, 30);

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

describe('sumByDay', () => {
  test('puts each request on its day of the person’s own calendar, and keeps empty days', () => {
    const days = sumByDay(
      [
        record(new Date(2026, 10, 20, 0, 0, 0), 7),
        record(new Date(2026, 10, 19, 23, 59, 59), 5),
        record(new Date(2026, 10, 19, 1), null),
        record(new Date(2026, 10, 13, 23), 100),
      ],
      'days7',
      now,
    );
    expect(days).toHaveLength(7);
    expect(days.map(({ requests }) => requests)).toEqual([0, 0, 0, 0, 0, 2, 1]);
    expect(days[5]).toMatchObject({ cost: 5, tokens: 25 });
    expect(days[6]?.day).toEqual(new Date(2026, 10, 20));
  });
});

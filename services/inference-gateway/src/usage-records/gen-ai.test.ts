import { createMetrics } from '@svc/service-kit';
import { expect, test } from 'vitest';
import { createInferenceMeters } from './gen-ai.ts';
import { releasedEnd, type UsageRecord } from './usage-record.ts';

const record = (fields: Partial<UsageRecord>): UsageRecord => ({
  ...releasedEnd(200, 3_000),
  requestId: 'req_1',
  kind: 'api_key',
  userId: 'usr_1',
  clientId: null,
  keyId: 'key_1',
  service: 'chat',
  model: 'svc-chat',
  ingressRegion: 'EU',
  isStreamed: true,
  startedAtMs: 1_000,
  lease: null,
  outcome: 'settled',
  servedBy: { routeId: 'chat-eu', provider: 'Mistral', dataZone: 'EU', certification: null },
  ...fields,
});

test('measures a served request by provider and model: duration, first chunk, tokens by type', async () => {
  const metrics = createMetrics('inference-gateway', { isOfProcess: false });
  const observe = createInferenceMeters(metrics);
  observe(record({ inputTokens: 12, outputTokens: 300, firstEventMs: 240 }));
  observe(record({ outcome: 'uncertain' }));
  const lines = (await metrics.render()).body.split('\n').filter((line) => line.includes('"Mistral"'));
  const value = (name: string, label = ''): number =>
    Number(
      lines
        .find((line) => line.startsWith(`gen_ai_client_${name}{`) && line.includes(label))
        ?.split(' ')
        .at(-1),
    );
  expect(value('operation_duration_seconds_sum', 'error_type=""')).toBe(2);
  expect(value('operation_duration_seconds_count', 'error_type="uncertain"')).toBe(1);
  expect(value('operation_time_to_first_chunk_seconds_sum')).toBe(0.24);
  expect(value('token_usage_sum', 'gen_ai_token_type="input"')).toBe(12);
  expect(value('token_usage_sum', 'gen_ai_token_type="output"')).toBe(300);
});

test('leaves out a request that reached no provider', async () => {
  const metrics = createMetrics('inference-gateway', { isOfProcess: false });
  createInferenceMeters(metrics)(record({ servedBy: null, outcome: 'released' }));
  expect((await metrics.render()).body).not.toContain('svc-chat');
});

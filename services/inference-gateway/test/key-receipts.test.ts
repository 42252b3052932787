import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const readReceipt = async (requestId: string, token: string) => {
  const answer = await fetch(`${gateway.url}/v1/gateway/usage/${requestId}/receipt`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
};

test('a receipt is signed over the record of the request, for its account and its key alone', async () => {
  const userId = newId('usr');
  const [key, otherKey, strangersKey] = await Promise.all([
    createKey(gateway, { userId }),
    createKey(gateway, { userId }),
    createKey(gateway),
  ]);
  const session = await gateway.tokens.consoleSession({ userId });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-chat', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.text();
  const requestId = answer.headers.get('x-request-id') ?? '';
  const record = await waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());
  for (const token of [session, key]) {
    expect(await readReceipt(requestId, token)).toEqual({ status: 200, body: { receipt: 'signed' } });
  }
  const signed = {
    request_id: requestId,
    svc_user_id: userId,
    key_id: record.key_id,
    details: {
      service: 'chat',
      provider: record.provider,
      model: record.upstream_model,
      data_zone: record.data_zone,
      certification: record.certification,
      upstream_request_id: record.upstream_request_id,
      input_tokens: record.input_tokens,
      output_tokens: record.output_tokens,
      cached_input_tokens: record.cached_input_tokens,
      started_at: record.started_at.toISOString(),
    },
  };
  expect(Object.values(signed.details)).not.toContain(null);
  expect(gateway.billing.receipts).toEqual([signed, signed]);
  const strangersSession = await gateway.tokens.consoleSession({ userId: newId('usr') });
  for (const token of [otherKey, strangersKey, strangersSession]) {
    expect((await readReceipt(requestId, token)).status).toBe(404);
  }
  for (const unknown of [newId('req'), requestId.toUpperCase(), `${requestId}0`, 'req_1']) {
    expect((await readReceipt(unknown, session)).status).toBe(404);
  }
  expect(gateway.billing.receipts).toHaveLength(2);
});

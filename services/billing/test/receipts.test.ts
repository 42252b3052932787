import { newId } from '@svc/contracts';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openReceiptKeys } from '../src/receipts/receipt-keys.ts';
import { insertRequestDetails } from '../src/reservations/detail-queries.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-01T12:00:00.500Z'));

const fact = (requestId: string, more: object = {}) => ({
  request_id: requestId,
  kind: 'delegated' as const,
  svc_user_id: newId('usr'),
  client_id: APP,
  key_id: null,
  service: 'chat' as const,
  outcome: 'settled' as const,
  cost_micros: 30,
  input_tokens: 12,
  output_tokens: 34,
  audio_ms: null,
  finished_at: '2026-10-01T12:00:00.000Z',
  ...more,
});
const SERVED_BY = {
  provider: 'Sandbox',
  model: 'sandbox-chat-1',
  data_zone: 'EU',
  certification: 'DPA-2026-014',
  upstream_request_id: 'up-1',
};
const report = (...facts: ReturnType<typeof fact>[]) =>
  billing.db.transaction((trx) => insertRequestDetails(trx, facts));
const receiptOf = async (userId: string, requestId: string, clientId = APP) => {
  const token = await billing.tokens.accessToken({ userId, clientId });
  return await billing.call('GET', `/v1/integrations/usage/requests/${requestId}/receipt`, { token });
};
const verify = async (receipt: string) => {
  const jwks: JSONWebKeySet = (await billing.call('GET', '/v1/receipts/jwks')).body;
  return await jwtVerify(receipt, createLocalJWKSet(jwks), {
    algorithms: ['ES256'],
    typ: 'svc-receipt+jwt',
    issuer: billing.config.PUBLIC_BASE_URL,
  });
};

describe('the receipt of a delegated request', () => {
  test('states the cost and verifies against the published keys, with the same claims each time', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    expect((await receiptOf(userId, requestId)).body.detail.code).toBe('not_settled');
    await billing.setClock('2026-10-01T12:00:07.250Z');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 30 });
    await report(fact(requestId, { served_by: SERVED_BY }));
    const { payload, protectedHeader } = await verify((await receiptOf(userId, requestId)).body.receipt);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'svc-receipt+jwt', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: billing.config.PUBLIC_BASE_URL,
      iat: Date.parse('2026-10-01T12:00:07Z') / 1000,
      request_id: requestId,
      sub: userId,
      client_id: APP,
      service: 'chat',
      outcome: 'settled',
      cost_micros: 30,
      currency: 'EUR',
      input_tokens: 12,
      output_tokens: 34,
      cached_input_tokens: 0,
      created_at: '2026-10-01T12:00:00.500Z',
      settled_at: '2026-10-01T12:00:07.250Z',
    });
    await billing.setClock('2026-10-03T00:00:00Z');
    expect((await verify((await receiptOf(userId, requestId)).body.receipt)).payload).toEqual(payload);
  });

  test('of an audio request states its seconds', async () => {
    const { userId } = await billing.subscribe('full');
    const { requestId } = await billing.admit(userId, { service: 'audio_transcription' });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 5 });
    const counts = { input_tokens: null, output_tokens: null, audio_ms: 1_500 };
    await report(fact(requestId, { service: 'audio_transcription', ...counts }));
    const { payload } = await verify((await receiptOf(userId, requestId)).body.receipt);
    expect(payload).toMatchObject({ service: 'audio_transcription', audio_seconds: 1.5, input_tokens: null });
  });

  test('states a cost of zero for a released request, and `estimated` for one settled at its estimate', async () => {
    const { userId } = await billing.subscribe();
    const released = await billing.admit(userId);
    await billing.settle(released.requestId, { outcome: 'released' });
    const free = await verify((await receiptOf(userId, released.requestId)).body.receipt);
    expect(free.payload).toMatchObject({ outcome: 'released', cost_micros: 0, output_tokens: 0 });
    const lost = await billing.admit(userId);
    await billing.settle(lost.requestId, { outcome: 'uncertain' });
    expect((await receiptOf(userId, lost.requestId)).status).toBe(409);
    await billing.setClock('2026-10-03T12:00:00Z');
    await billing.app.sweep();
    const estimated = await verify((await receiptOf(userId, lost.requestId)).body.receipt);
    expect(estimated.payload).toMatchObject({ outcome: 'estimated', cost_micros: 100, output_tokens: null });
  });

  test('is 404 for another user and for another app', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.settle(requestId, { outcome: 'released' });
    expect((await receiptOf(newId('usr'), requestId)).status).toBe(404);
    expect((await receiptOf(userId, requestId, newId('app'))).status).toBe(404);
    expect((await receiptOf(userId, newId('req'))).status).toBe(404);
  });
});

describe('the receipt of an API-key request', () => {
  test('names provider, model and certification, and is readable by its account and its key only', async () => {
    const userId = newId('usr');
    const keyId = newId('key');
    const requestId = newId('req');
    await billing.db.raw(`SELECT wallet_credit(?, 1000000, 'EUR', ?)`, [userId, newId('cs')]);
    const admission = {
      kind: 'api_key',
      request_id: requestId,
      svc_user_id: userId,
      key_id: keyId,
      hold_micros: 100,
      requests_per_minute: null,
      monthly_limit_micros: null,
    };
    expect((await billing.internal('POST', '/internal/admissions', admission)).body.verdict).toBe('admitted');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 40 });
    await report(
      fact(requestId, { kind: 'api_key', client_id: null, key_id: keyId, cost_micros: 40, served_by: SERVED_BY }),
    );
    const ask = (key_id: string | null, svc_user_id = userId) =>
      billing.internal('POST', '/internal/key-receipts', { request_id: requestId, svc_user_id, key_id });
    const { payload } = await verify((await ask(null)).body.receipt);
    expect(payload).toMatchObject({ key_id: keyId, service: 'chat', cost_micros: 40, ...SERVED_BY });
    expect(payload).not.toHaveProperty('client_id');
    expect((await ask(keyId)).status).toBe(200);
    expect((await ask(newId('key'))).status).toBe(404);
    expect((await ask(null, newId('usr'))).status).toBe(404);
  });
});

describe('receipt keys', () => {
  const secret = Buffer.alloc(32, 3).toString('base64');
  const at = (day: string) => openReceiptKeys(secret, () => Date.parse(day));

  test('rotate every 90 days, stay published, and are published one period in advance', async () => {
    const first = at('2026-10-02');
    const later = at('2027-03-31');
    expect(await first.published()).toHaveLength(2);
    const published = await later.published();
    expect(published).toHaveLength(4);
    expect(published).toEqual(expect.arrayContaining([...(await first.published())]));
    const { kid } = await later.active();
    expect(kid).not.toBe((await first.active()).kid);
    expect(published.map((key) => key.kid)).toContain(kid);
    expect(JSON.stringify(published)).not.toContain('"d"');
  });

  test('are the same for every replica', async () => {
    expect((await at('2026-10-02').active()).kid).toBe((await at('2026-11-02').active()).kid);
  });
});

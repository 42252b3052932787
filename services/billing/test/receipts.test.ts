import { newId } from '@svc/contracts';
import { openSecretKeys, openSigningKeys, requireSecretKeys } from '@svc/secrets';
import { waitFor } from '@svc/testing';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { settleKeyRequests } from '../src/leases/index.ts';
import { insertRequestDetails } from '../src/reservations/request-queries.ts';
import { createReceiptSigning } from '../src/usage/receipts.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
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
  started_at: '2026-10-01T12:00:00.000Z',
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
    const early = await receiptOf(userId, requestId);
    expect([early.body.detail.code, early.headers.get('retry-after')]).toEqual(['not_settled', '1']);
    await billing.setClock('2026-10-01T12:00:07.250Z');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 30 });
    await report(fact(requestId));
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
      paid_by: 'plan',
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
  test('states its cost and what its gateway recorded, for its account and key only', async () => {
    const userId = newId('usr');
    const keyId = newId('key');
    const requestId = newId('req');
    await billing.db.raw(`SELECT wallet_credit(?, 1000000, 'EUR', ?)`, [userId, newId('cs')]);
    const asked = await accounts.ask({ userId, keyId }, { hold_micros: 100, request_id: requestId });
    const started_at = '2026-10-01T12:00:00.250Z';
    const details = {
      service: 'chat',
      input_tokens: 3,
      output_tokens: 4,
      cached_input_tokens: 1,
      ...SERVED_BY,
      started_at,
    };
    const ask = (key_id = keyId, svc_user_id = userId) =>
      billing.internal('POST', '/internal/key-receipts', { request_id: requestId, svc_user_id, key_id, details });
    const waiting = ask();
    const outcome = accounts.outcomeOf(asked.requestId, { outcome: 'settled', cost_micros: 40 });
    await settleKeyRequests(billing.db, [outcome], 'EUR');
    expect((await waiting).status).toBe(200);
    const { payload } = await verify((await ask()).body.receipt);
    expect(payload).toMatchObject({
      key_id: keyId,
      service: 'chat',
      cost_micros: 40,
      paid_by: 'wallet',
      input_tokens: 3,
      created_at: started_at,
      ...SERVED_BY,
    });
    expect(payload).not.toHaveProperty('client_id');
    expect((await ask(newId('key'))).status).toBe(404);
    expect((await ask(keyId, newId('usr'))).status).toBe(404);
  });
});

const openReceipts = (clock: () => number, ...secrets: string[]) =>
  openSigningKeys({
    secrets: openSecretKeys('RECEIPT_KEY_SECRET', secrets),
    database: billing.db,
    purpose: 'receipts',
    typ: 'svc-receipt+jwt',
    clock,
  });

describe('receipt keys', () => {
  const [first, second] = [3, 4].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
  const open = (...secrets: string[]) => openReceipts(() => Date.parse('2027-01-15'), ...secrets);

  test('of replicas before and after each step of a rotation verify each other, and former ones stay published', async () => {
    const steps = [[first], [first, second], [second, first], [second]].map((secrets) => open(...secrets));
    const signed: unknown[] = [];
    for (const [index, { keys, use }] of steps.entries()) {
      signed.push(keys.active().publicKey);
      // Operators run `svc secrets reencrypt` before they remove a secret.
      if (index === 2) await use.beforeRemoval?.();
      for (const other of steps.slice(Math.max(0, index - 1), index + 2)) {
        expect(await other.keys.published()).toContainEqual(keys.active().publicKey);
      }
    }
    const after = open(second).keys;
    expect(await after.published()).toEqual(expect.arrayContaining(signed));
    const answer = await billing.internal('POST', '/internal/operations/billing/receipt-keys/withdraw');
    expect(answer.body).toEqual({ withdrawn: 3 });
    expect(await after.published()).not.toContainEqual(signed[0]);
    expect(await after.published()).toContainEqual(signed[3]);
  });

  test('need their secret: a start without it is refused until stored values have moved', async () => {
    await expect(requireSecretKeys(billing.db, [open(second).use])).rejects.toThrow(
      /^RECEIPT_KEY_SECRET lacks the key/,
    );
    const path = '/internal/operations/billing/secrets';
    const { body } = await billing.internal('GET', path);
    expect(body.data).toMatchObject([{ setting: 'RECEIPT_KEY_SECRET', configured: true, writes: true, values: 1 }]);
    expect((await billing.internal('POST', `${path}/reencrypt`)).body).toEqual({ reencrypted: 0, done: true });
  });
});

describe('callers that wait for the details of a request', () => {
  test('share their reads, and at most 500 of them wait', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 30 });
    const { signDelegated } = createReceiptSigning({
      database: billing.db,
      currency: 'EUR',
      issuer: billing.config.PUBLIC_BASE_URL,
      receiptKeys: openReceipts(Date.now, ...billing.config.RECEIPT_KEY_SECRET).keys,
    });
    let queries = 0;
    const count = () => {
      queries += 1;
    };
    billing.db.on('query', count);
    let refused = 0;
    const signed = Promise.allSettled(
      Array.from({ length: 600 }, () =>
        signDelegated(requestId, { userId, clientId: APP }).catch((error: unknown) => {
          refused += 1;
          throw error;
        }),
      ),
    );
    await waitFor(() => refused > 0);
    expect(refused).toBe(100);
    await report(fact(requestId));
    expect((await signed).filter(({ status }) => status === 'fulfilled')).toHaveLength(500);
    billing.db.off('query', count);
    // Thirty rounds of three reads, and a few more for those that begin at other moments.
    expect(queries).toBeLessThan(200);
  });
});

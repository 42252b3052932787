import { newId, type RequestOutcome } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APP, type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-01T12:00:00Z'));

const NOTHING = {
  status: null,
  plan: null,
  period: null,
  weekly: null,
  monthly: null,
  pending_requests: 0,
  max_pending_requests: 2,
  services: { chat: false, audio_transcription: false },
};

/** Usage of an app that has no budget and has used nothing. */
const NO_BUDGET = {
  paused: false,
  used_micros: 0,
  held_micros: 0,
  limit_micros: null,
  period: null,
  resets_at: null,
  expires_at: null,
};

/** Extra use until it is set. */
const NO_EXTRA = { enabled: false, used_micros: 0, limit_micros: 0 };

describe('usage', () => {
  test('is empty without a subscription, for the owner and for an app', async () => {
    const userId = newId('usr');
    const token = await billing.tokens.consoleSession({ userId });
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body).toEqual(NOTHING);
    const accessToken = await billing.tokens.accessToken({ userId });
    expect((await billing.call('GET', '/v1/integrations/usage', { token: accessToken })).body).toEqual({
      ...NOTHING,
      extra: NO_EXTRA,
      app: NO_BUDGET,
    });
  });
  test('returns the same windows, caps and pending requests to the owner and to an app', async () => {
    const { userId, token } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 999 });
    await billing.admit(userId);
    const expected = {
      status: 'active',
      plan: { id: 'basic', name: 'Basic' },
      period: { start: '2026-10-01T12:00:00.000Z', end: '2026-11-01T12:00:00.000Z' },
      weekly: { used_percent: 99, used_micros: 999, limit_micros: 1000, resets_at: '2026-10-08T12:00:00.000Z' },
      monthly: { used_percent: 33, used_micros: 999, limit_micros: 3000, resets_at: '2026-11-01T12:00:00.000Z' },
      pending_requests: 1,
      max_pending_requests: 2,
      services: { chat: true, audio_transcription: false },
    };
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body).toEqual(expected);
    const accessToken = await billing.tokens.accessToken({ userId, scope: 'usage:read' });
    expect((await billing.call('GET', '/v1/integrations/usage', { token: accessToken })).body).toEqual({
      ...expected,
      extra: NO_EXTRA,
      app: NO_BUDGET,
    });
    await billing.setClock('2026-10-08T12:00:00Z');
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body.weekly).toEqual({
      used_percent: 0,
      used_micros: 0,
      limit_micros: 1000,
      resets_at: '2026-10-15T12:00:00.000Z',
    });
  });
  test('returns states of API-key requests that have ended to the gateway, in the given order', async () => {
    const accounts = gatewayAccounts(billing);
    const owner = await accounts.fund();
    const request = async (result?: RequestOutcome): Promise<string> => {
      const { requestId } = await accounts.ask(owner, { hold_micros: 100 });
      if (result !== undefined) await accounts.settle(requestId, result);
      return requestId;
    };
    const settled = await request({ outcome: 'settled', cost_micros: 9 });
    const released = await request({ outcome: 'released' });
    const uncertain = await request({ outcome: 'uncertain' });
    const running = await request();
    const states = async (request_ids: string[], svc_user_id = owner.userId) =>
      await billing.internal('POST', '/internal/request-states', { svc_user_id, request_ids });
    expect((await states([running, newId('req'), settled, uncertain, released, settled])).body.states).toEqual([
      null,
      null,
      { state: 'settled', cost_micros: 9 },
      { state: 'uncertain', cost_micros: null },
      { state: 'released', cost_micros: 0 },
      { state: 'settled', cost_micros: 9 },
    ]);
    expect((await states([settled], newId('usr'))).body.states).toEqual([null]);
    const operations = '/internal/operations/billing/uncertain-reservations';
    expect((await billing.internal('GET', `${operations}?limit=100`)).body.data).toContainEqual(
      expect.objectContaining({ request_id: uncertain, svc_user_id: owner.userId, estimate_micros: 100 }),
    );
    await billing.internal('POST', `${operations}/${uncertain}/settle`, { cost_micros: null });
    expect((await states([uncertain])).body.states).toEqual([{ state: 'settled', cost_micros: 100 }]);
    expect((await states([])).status).toBe(422);
  });
  test('lists no services while the subscription admits nothing', async () => {
    const { userId, token, subscriptionId } = await billing.subscribe('full');
    const entitlements = async () =>
      (await billing.internal('GET', `/internal/accounts/${userId}/entitlements`)).body.services;
    expect(await entitlements()).toEqual({ chat: true, audio_transcription: true });
    await billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status: 'paused' } });
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body).toMatchObject({
      status: 'paused',
      services: { chat: false, audio_transcription: false },
    });
    expect(await entitlements()).toEqual({ chat: false, audio_transcription: false });
    const stranger = await billing.internal('GET', `/internal/accounts/${newId('usr')}/entitlements`);
    expect(stranger.body.services).toEqual({ chat: false, audio_transcription: false });
  });
  test('requires the scope, and the right kind of token', async () => {
    const userId = newId('usr');
    const token = await billing.tokens.accessToken({ userId, scope: 'inference' });
    const answer = await billing.call('GET', '/v1/integrations/usage', { token });
    expect([answer.status, answer.body.detail.code]).toEqual([403, 'insufficient_scope']);
    expect(answer.headers.get('www-authenticate')).toContain('scope="usage:read"');
    expect((await billing.call('GET', '/v1/integrations/usage')).status).toBe(401);
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).status).toBe(401);
  });
});

describe('GET /v1/integrations/usage/requests/{request_id}', () => {
  const read = async (requestId: string, userId: string, clientId = APP) =>
    billing.call('GET', `/v1/integrations/usage/requests/${requestId}`, {
      token: await billing.tokens.accessToken({ userId, clientId }),
    });
  test('returns state and cost of a request in each state', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    const request_id = requestId;
    const created_at = '2026-10-01T12:00:00.000Z';
    expect((await read(requestId, userId)).body).toEqual({
      request_id,
      state: 'reserved',
      cost_micros: null,
      paid_by: 'plan',
      created_at,
      settled_at: null,
    });
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect((await read(requestId, userId)).body).toEqual({
      request_id,
      state: 'uncertain',
      cost_micros: null,
      paid_by: 'plan',
      created_at,
      settled_at: null,
    });
    await billing.setClock('2026-10-01T12:05:00Z');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 12 });
    expect((await read(requestId, userId)).body).toEqual({
      request_id,
      state: 'settled',
      cost_micros: 12,
      paid_by: 'plan',
      created_at,
      settled_at: '2026-10-01T12:05:00.000Z',
    });
    const second = await billing.admit(userId);
    await billing.settle(second.requestId, { outcome: 'released' });
    expect((await read(second.requestId, userId)).body).toMatchObject({
      state: 'released',
      cost_micros: 0,
      settled_at: null,
    });
  });
  test('returns 404 for another app, another user and an unknown id', async () => {
    const { userId } = await billing.subscribe();
    const { requestId } = await billing.admit(userId);
    for (const answer of [
      await read(requestId, userId, newId('app')),
      await read(requestId, newId('usr')),
      await read(newId('req'), userId),
      await read('x', userId),
    ]) {
      expect([answer.status, answer.body.detail.code]).toEqual([404, 'not_found']);
    }
  });
  test('requires the scope', async () => {
    const token = await billing.tokens.accessToken({ scope: 'inference' });
    expect((await billing.call('GET', `/v1/integrations/usage/requests/${newId('req')}`, { token })).status).toBe(403);
  });
});

import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

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

describe('usage', () => {
  test('is empty without a subscription, for the owner and for an app', async () => {
    const userId = newId('usr');
    const token = await billing.tokens.consoleSession({ userId });
    expect((await billing.call('GET', '/v1/subscriptions/usage', { token })).body).toEqual(NOTHING);
    const accessToken = await billing.tokens.accessToken({ userId });
    expect((await billing.call('GET', '/v1/integrations/usage', { token: accessToken })).body).toEqual({
      ...NOTHING,
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
  test('returns request states to the gateway, in the given order', async () => {
    const { userId } = await billing.subscribe();
    const admit = async (outcome?: object): Promise<string> => {
      const { requestId } = await billing.admit(userId);
      if (outcome !== undefined) await billing.settle(requestId, outcome as never);
      return requestId;
    };
    const settled = await admit({ outcome: 'settled', cost_micros: 9 });
    const released = await admit({ outcome: 'released' });
    const uncertain = await admit({ outcome: 'uncertain' });
    const reserved = await admit();
    const states = async (request_ids: string[]) =>
      await billing.internal('POST', '/internal/request-states', { request_ids });
    expect((await states([reserved, newId('req'), settled, uncertain, released, settled])).body.states).toEqual([
      { state: 'reserved', cost_micros: null },
      null,
      { state: 'settled', cost_micros: 9 },
      { state: 'uncertain', cost_micros: null },
      { state: 'released', cost_micros: 0 },
      { state: 'settled', cost_micros: 9 },
    ]);
    await billing.internal('POST', `/internal/operations/billing/uncertain-reservations/${uncertain}/settle`, {
      cost_micros: null,
    });
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
      created_at,
      settled_at: null,
    });
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect((await read(requestId, userId)).body).toEqual({
      request_id,
      state: 'uncertain',
      cost_micros: null,
      created_at,
      settled_at: null,
    });
    await billing.setClock('2026-10-01T12:05:00Z');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 12 });
    expect((await read(requestId, userId)).body).toEqual({
      request_id,
      state: 'settled',
      cost_micros: 12,
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

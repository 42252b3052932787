import { newId } from '@svc/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const NONE = { requests: 0, cost_micros: 0 };
const EMPTY = { ...NONE, services: { chat: NONE, audio_transcription: NONE }, apps: [] };
const history = (token: string, query = '') =>
  billing.call('GET', `/v1/subscriptions/usage/history${query}`, { token });
const days = async (token: string, query = '') => (await history(token, query)).body.data;
const spend = async (userId: string, cost_micros: number, more: Record<string, unknown> = {}) => {
  const { requestId } = await billing.admit(userId, more);
  await billing.settle(requestId, { outcome: 'settled', cost_micros });
  return requestId;
};

describe('GET /v1/subscriptions/usage/history', () => {
  test('returns requests and cost of each UTC day by service and app, including days without use', async () => {
    await billing.setClock('2026-10-01T12:00:00Z');
    const { userId, token } = await billing.subscribe('full');
    const other = newId('app');
    await spend(userId, 10);
    await spend(userId, 0, { client_id: other });
    await billing.setClock('2026-10-02T23:59:59.999Z');
    await spend(userId, 7, { client_id: other, service: 'audio_transcription' });
    await billing.setClock('2026-10-03T00:00:00Z');
    await spend(userId, 5);
    expect(await days(token, '?days=4')).toEqual([
      { day: '2026-09-30', ...EMPTY },
      {
        day: '2026-10-01',
        requests: 2,
        cost_micros: 10,
        services: { chat: { requests: 2, cost_micros: 10 }, audio_transcription: NONE },
        apps: [
          { client_id: APP, requests: 1, cost_micros: 10 },
          { client_id: other, requests: 1, cost_micros: 0 },
        ],
      },
      {
        day: '2026-10-02',
        requests: 1,
        cost_micros: 7,
        services: { chat: NONE, audio_transcription: { requests: 1, cost_micros: 7 } },
        apps: [{ client_id: other, requests: 1, cost_micros: 7 }],
      },
      {
        day: '2026-10-03',
        requests: 1,
        cost_micros: 5,
        services: { chat: { requests: 1, cost_micros: 5 }, audio_transcription: NONE },
        apps: [{ client_id: APP, requests: 1, cost_micros: 5 }],
      },
    ]);
    expect(await days(token)).toHaveLength(30);
    expect(await days(token, '?days=1')).toMatchObject([{ day: '2026-10-03', cost_micros: 5 }]);
  });

  test('counts a request once, on the day of its admission, despite repeated, late and different outcomes', async () => {
    await billing.setClock('2026-10-01T23:00:00Z');
    const { userId, token } = await billing.subscribe('full');
    const { requestId } = await billing.admit(userId, { estimate_micros: 100 });
    const today = async () => (await days(token, '?days=3')).find(({ day }: { day: string }) => day === '2026-10-01');
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect(await today()).toMatchObject(NONE);
    await billing.setClock('2026-10-02T23:01:00Z');
    await billing.app.sweep();
    expect(await today()).toMatchObject({ requests: 1, cost_micros: 100 });
    for (const cost_micros of [30, 30, 40]) await billing.settle(requestId, { outcome: 'settled', cost_micros });
    await billing.settle(requestId, { outcome: 'released' });
    expect(await today()).toMatchObject({ requests: 1, cost_micros: 30 });
    const released = await billing.admit(userId);
    await billing.settle(released.requestId, { outcome: 'released' });
    expect((await days(token, '?days=3')).at(-1)).toMatchObject(NONE);
  });

  test('adds up concurrent settlements in batches with repetitions', async () => {
    await billing.setClock('2026-10-05T10:00:00Z');
    const owners = await Promise.all(Array.from({ length: 5 }, () => billing.subscribe('full')));
    const requests = await Promise.all(owners.flatMap(({ userId }) => [billing.admit(userId), billing.admit(userId)]));
    const settlements = requests.map(({ requestId }, index) => ({
      svc_user_id: newId('usr'),
      request_id: requestId,
      result: { outcome: 'settled', cost_micros: index + 1 },
    }));
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        billing.internal('POST', '/internal/settlements', {
          settlements: [...settlements.slice(index), ...settlements, ...settlements.slice(0, index)],
        }),
      ),
    );
    const totals = await Promise.all(owners.map(async ({ token }) => (await days(token, '?days=1'))[0]));
    expect(totals.map(({ requests: count }) => count)).toEqual([2, 2, 2, 2, 2]);
    expect(totals.reduce((sum, { cost_micros }) => sum + cost_micros, 0)).toBe(55);
  });

  test('lists the twenty most expensive apps of a day, with all apps in the total', async () => {
    await billing.setClock('2026-10-06T10:00:00Z');
    const { userId, token } = await billing.subscribe('full');
    for (let cost = 1; cost <= 22; cost += 1) await spend(userId, cost, { client_id: newId('app') });
    const [day] = await days(token, '?days=1');
    expect(day).toMatchObject({ requests: 22, cost_micros: 253 });
    expect(day.apps.map((app: { cost_micros: number }) => app.cost_micros)).toEqual(
      Array.from({ length: 20 }, (_, index) => 22 - index),
    );
  });

  test('is empty for an account without use, even if other accounts have some', async () => {
    await billing.setClock('2026-10-07T10:00:00Z');
    const { userId } = await billing.subscribe('full');
    await spend(userId, 9);
    const token = await billing.tokens.consoleSession({ userId: newId('usr') });
    expect(await days(token, '?days=1')).toEqual([{ day: '2026-10-07', ...EMPTY }]);
  });

  test.each([
    ['0', 'greater_than_equal'],
    ['367', 'less_than_equal'],
    ['two', 'int_type'],
  ])('returns 422 for %s days', async (wanted, type) => {
    const answer = await history(await billing.tokens.consoleSession(), `?days=${wanted}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc: ['query', 'days'], type });
  });

  test('requires a console session', async () => {
    expect((await billing.call('GET', '/v1/subscriptions/usage/history')).status).toBe(401);
    expect((await history(await billing.tokens.accessToken())).status).toBe(401);
  });
});

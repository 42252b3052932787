import { newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(async () => {
  expect(await checkBalances(billing.db)).toEqual([]);
  await billing.stop();
});
beforeEach(() => billing.setClock('2026-10-01T12:00:00Z'));

const week = (limit_micros: number, more: object = {}) => ({ limit_micros, period: 'week', ...more });

const setTerms = async (userId: string, change: object, clientId = APP) =>
  (await billing.internal('PATCH', `/internal/accounts/${userId}/apps/${clientId}/terms`, change)).body;

const readApp = async (userId: string, clientId = APP) => {
  const token = await billing.tokens.accessToken({ userId, clientId });
  return (await billing.call('GET', '/v1/integrations/usage', { token })).body.app;
};

const admit = async (userId: string, hold_micros: number, more: Record<string, unknown> = {}) => {
  const { requestId, answer } = await billing.admit(userId, { hold_micros, ...more });
  return { requestId, ...answer.body };
};

const use = async (userId: string, cost_micros: number, hold_micros = cost_micros) => {
  const { requestId, verdict } = await admit(userId, hold_micros);
  expect(verdict).toBe('admitted');
  await billing.settle(requestId, { outcome: 'settled', cost_micros });
};

describe('an app budget', () => {
  test('refuses a request whose maximum cost exceeds the rest of the budget, until the window resets', async () => {
    const { userId } = await billing.subscribe();
    expect(await setTerms(userId, { budget: week(300) })).toEqual({
      paused: false,
      budget: {
        limit_micros: 300,
        currency: 'EUR',
        period: 'week',
        used_micros: 0,
        resets_at: '2026-10-08T12:00:00.000Z',
        expires_at: null,
      },
    });
    await use(userId, 100, 250);
    expect(await admit(userId, 201)).toMatchObject({
      verdict: 'app_limit_exceeded',
      resets_at: '2026-10-08T12:00:00.000Z',
    });
    expect((await admit(userId, 200)).verdict).toBe('admitted');
    expect(await readApp(userId)).toMatchObject({ used_micros: 100, held_micros: 200, limit_micros: 300 });
    await billing.setClock('2026-10-08T12:00:00Z');
    expect(await readApp(userId)).toMatchObject({ used_micros: 0, held_micros: 0 });
    expect((await admit(userId, 300)).verdict).toBe('admitted');
  });

  test('returns app_requests_pending if the request would fit without the holds of running requests', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(300) });
    const { requestId } = await admit(userId, 200);
    expect(await admit(userId, 200)).toEqual({ requestId: expect.any(String), verdict: 'app_requests_pending' });
    await billing.settle(requestId, { outcome: 'released' });
    expect((await admit(userId, 200)).verdict).toBe('admitted');
  });

  test('keeps the hold of an uncertain request until its cost is known', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(300) });
    const { requestId } = await admit(userId, 200, { estimate_micros: 20 });
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect((await admit(userId, 101)).verdict).toBe('app_limit_exceeded');
    expect(await readApp(userId)).toMatchObject({ used_micros: 0, held_micros: 200 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 150 });
    expect(await readApp(userId)).toMatchObject({ used_micros: 150, held_micros: 0 });
  });

  test('counts usage beyond the hold against the shared caps only', async () => {
    const { userId, token } = await billing.subscribe();
    await setTerms(userId, { budget: week(100) });
    await use(userId, 170, 100);
    expect(await readApp(userId)).toMatchObject({ used_micros: 100 });
    const usage = await billing.call('GET', '/v1/subscriptions/usage', { token });
    expect(usage.body.weekly.used_micros).toBe(170);
  });

  test('holds the rest of the budget if the request accepts less, and returns that hold', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(300) });
    await use(userId, 100);
    const first = await admit(userId, 500, { hold_min_micros: 150 });
    expect(first).toMatchObject({ verdict: 'admitted', hold_micros: 200 });
    const again = await billing.admit(userId, { hold_micros: 500, request_id: first.requestId });
    expect(again.answer.body).toMatchObject({ verdict: 'admitted', hold_micros: 200 });
    expect((await admit(userId, 500, { hold_min_micros: 10 })).verdict).toBe('app_requests_pending');
    await billing.settle(first.requestId, { outcome: 'settled', cost_micros: 195 });
    expect((await admit(userId, 500, { hold_min_micros: 10 })).verdict).toBe('app_limit_exceeded');
  });

  test.each(['week', 'month', 'total'])('includes earlier use when it is changed (%s)', async (period) => {
    const { userId } = await billing.subscribe();
    await use(userId, 120);
    const { requestId } = await admit(userId, 60);
    await setTerms(userId, { budget: week(500) });
    expect(await readApp(userId)).toMatchObject({ used_micros: 120, held_micros: 60 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 50 });
    await billing.setClock('2026-10-01T13:00:00Z');
    await use(userId, 30);
    const { budget } = await setTerms(userId, { budget: { limit_micros: 400, period } });
    // The total counts requests made after the first limit was set.
    expect(budget.used_micros).toBe(period === 'total' ? 30 : 200);
    await setTerms(userId, { budget: null });
    await use(userId, 40);
    const renewed = await setTerms(userId, { budget: { limit_micros: 900, period } });
    expect(renewed.budget.used_micros).toBe(period === 'total' ? 0 : 240);
  });

  test('counts only the current window on a day on which a window ends', async () => {
    const { userId } = await billing.subscribe();
    await billing.setClock('2026-10-08T11:00:00Z');
    await use(userId, 70);
    await billing.setClock('2026-10-08T13:00:00Z');
    await use(userId, 7);
    expect(await readApp(userId)).toMatchObject({ used_micros: 7, limit_micros: null });
    expect((await setTerms(userId, { budget: week(500) })).budget.used_micros).toBe(7);
    expect((await setTerms(userId, { budget: { limit_micros: 500, period: 'month' } })).budget.used_micros).toBe(77);
  });

  test('counts the use under a subscription that ended in the same week', async () => {
    const { userId, subscriptionId } = await billing.subscribe();
    await use(userId, 70);
    const { requestId } = await admit(userId, 40);
    await billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status: 'canceled' } });
    await billing.setClock('2026-10-01T15:00:00Z');
    await billing.subscribe('basic', userId);
    await use(userId, 5);
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 30 });
    expect((await setTerms(userId, { budget: week(500) })).budget.used_micros).toBe(105);
    expect((await setTerms(userId, { budget: { limit_micros: 500, period: 'month' } })).budget.used_micros).toBe(105);
  });

  test('counts a total over all windows and never resets it', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: { limit_micros: 200, period: 'total' } });
    await use(userId, 150);
    await billing.setClock('2026-11-20T12:00:00Z');
    expect(await admit(userId, 51)).toEqual({ requestId: expect.any(String), verdict: 'app_limit_exceeded' });
    expect(await readApp(userId)).toMatchObject({ used_micros: 150, period: 'total', resets_at: null });
  });

  test('refuses requests after it has expired', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(500, { expires_at: '2026-10-02T00:00:00Z' }) });
    expect((await admit(userId, 1)).verdict).toBe('admitted');
    await billing.setClock('2026-10-02T00:00:00Z');
    expect((await admit(userId, 1)).verdict).toBe('app_budget_expired');
  });

  test('set before the first subscription applies to its first request', async () => {
    const userId = newId('usr');
    const { budget } = await setTerms(userId, { budget: week(50) });
    expect(budget).toMatchObject({ used_micros: 0, resets_at: null });
    await billing.subscribe('basic', userId);
    expect((await admit(userId, 51)).verdict).toBe('app_limit_exceeded');
  });

  test('limits one app and no other', async () => {
    const { userId } = await billing.subscribe();
    const other = newId('app');
    await setTerms(userId, { budget: week(50) });
    expect((await admit(userId, 100, { client_id: other })).verdict).toBe('admitted');
    expect((await admit(userId, 51)).verdict).toBe('app_limit_exceeded');
    const listed = await billing.internal('GET', `/internal/accounts/${userId}/app-terms`);
    expect(listed.body.data).toMatchObject([{ client_id: APP, paused: false, budget: { limit_micros: 50 } }]);
  });
});

describe('a paused connection', () => {
  test('is refused until it is resumed', async () => {
    const { userId } = await billing.subscribe();
    expect(await setTerms(userId, { paused: true })).toEqual({ paused: true, budget: null });
    expect(await admit(userId, 1)).toEqual({ requestId: expect.any(String), verdict: 'connection_paused' });
    expect(await readApp(userId)).toEqual({
      paused: true,
      used_micros: 0,
      held_micros: 0,
      limit_micros: null,
      period: null,
      resets_at: null,
      expires_at: null,
    });
    await setTerms(userId, { paused: false });
    expect((await admit(userId, 1)).verdict).toBe('admitted');
  });

  test('keeps its limit', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(50) });
    await setTerms(userId, { paused: true });
    expect(await setTerms(userId, { paused: false })).toMatchObject({ budget: { limit_micros: 50 } });
    expect((await admit(userId, 51)).verdict).toBe('app_limit_exceeded');
  });
});

describe('the order of refusals', () => {
  test('is status, service, pause, weekly cap, pending, expiry, limit', async () => {
    const { userId, subscriptionId } = await billing.subscribe('basic');
    const verdict = async (more: Record<string, unknown> = {}) => (await admit(userId, 100, more)).verdict;
    await setTerms(userId, { budget: week(0), paused: true });
    const play = (status: string) =>
      billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status } });
    await play('paused');
    expect(await verdict()).toBe('subscription_inactive');
    await play('active');
    expect(await verdict({ service: 'audio_transcription' })).toBe('subscription_service_not_included');
    const other = { client_id: newId('app') };
    const first = await admit(userId, 1, other);
    await admit(userId, 1, other);
    expect(await verdict()).toBe('connection_paused');
    await setTerms(userId, { paused: false });
    expect(await verdict()).toBe('subscription_requests_pending');
    await billing.settle(first.requestId, { outcome: 'settled', cost_micros: 999 });
    expect(await verdict()).toBe('app_limit_exceeded');
    await setTerms(userId, { budget: week(0, { expires_at: '2026-01-01T00:00:00Z' }) });
    expect(await verdict()).toBe('app_budget_expired');
    const last = await admit(userId, 1, other);
    await billing.settle(last.requestId, { outcome: 'settled', cost_micros: 1 });
    expect(await verdict()).toBe('weekly_limit_exceeded');
  });
});

describe('an app budget is never exceeded', () => {
  const PARALLEL = 40;

  test('by forty concurrent requests that settle at any cost up to their hold', async () => {
    const { userId } = await billing.subscribe();
    await setTerms(userId, { budget: week(250) });
    let admitted = 0;
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(
        Array.from({ length: PARALLEL }, async (_, index) => {
          const { requestId, verdict } = await admit(userId, 30);
          if (verdict !== 'admitted') return;
          admitted += 1;
          const { used_micros: used, held_micros: held } = await readApp(userId);
          expect(used + held).toBeLessThanOrEqual(250);
          await billing.settle(requestId, { outcome: 'settled', cost_micros: 15 + (index % 16) });
        }),
      );
    }
    // The limit of two pending requests refuses a varying number of the requests above.
    for (let last = await admit(userId, 30); last.verdict === 'admitted'; last = await admit(userId, 30)) {
      await billing.settle(last.requestId, { outcome: 'settled', cost_micros: 15 });
    }
    const { used_micros } = await readApp(userId);
    expect(admitted).toBeGreaterThan(5);
    expect(used_micros).toBeLessThanOrEqual(250);
    // What is left is less than one hold.
    expect(used_micros).toBeGreaterThan(250 - 30);
  });

  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('admit' as const), hold: fc.nat(120), min: fc.nat(120) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), cost: fc.nat(150) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'uncertain' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 30, 200, 800) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('period' as const), period: fc.constantFrom('week', 'month', 'total') }),
    },
  );

  test('by any sequence of admissions, outcomes, delays and period changes, and every counter matches its source', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (story) => {
        let now = new Date('2026-10-01T12:00:00Z');
        await billing.setClock(now);
        const { userId } = await billing.subscribe('full');
        let period = 'week';
        await setTerms(userId, { budget: { limit_micros: 200, period } });
        const open: string[] = [];
        for (const act of story) {
          if (act.do === 'admit') {
            const { requestId, verdict } = await admit(userId, Math.max(act.hold, act.min), {
              hold_min_micros: act.min,
            });
            if (verdict === 'admitted') open.push(requestId);
          } else if (act.do === 'wait') {
            now = new Date(now.getTime() + act.hours * 3_600_000);
            await billing.setClock(now);
          } else if (act.do === 'period') {
            period = act.period;
            await setTerms(userId, { budget: { limit_micros: 200, period } });
          } else {
            const requestId = act.do === 'uncertain' ? open[0] : open.shift();
            const result =
              act.do === 'settle'
                ? { outcome: 'settled', cost_micros: act.cost }
                : { outcome: act.do === 'release' ? 'released' : 'uncertain' };
            if (requestId !== undefined) await billing.settle(requestId, result);
          }
          const { used_micros: used, held_micros: held } = await readApp(userId);
          // A change of the period may reveal earlier use above the limit.
          if (period === 'week' && !story.some(({ do: what }) => what === 'period'))
            expect(used + held).toBeLessThanOrEqual(200);
          expect(await checkBalances(billing.db)).toEqual([]);
        }
      }),
      { numRuns: 15 },
    );
  }, 180_000);
});

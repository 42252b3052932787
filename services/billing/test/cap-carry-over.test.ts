import { events } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
  // The weekly cap decides: 1000 a week, or 600.
  await billing.db('plans').where({ id: 'yearly' }).update({ weekly_limit_micros: 600, monthly_limit_micros: 3000 });
});
afterAll(async () => {
  expect(await checkBalances(billing.db)).toEqual([]);
  await billing.stop();
});
beforeEach(() => billing.setClock('2026-10-01T12:00:00Z'));

const usageOf = async (token: string) => (await billing.call('GET', '/v1/subscriptions/usage', { token })).body;

const openPortal = async (token: string) => {
  const json = { return_url: 'https://shop.example/' };
  const path = new URL((await billing.call('POST', '/v1/subscriptions/portal', { token, json })).body.url).pathname;
  return async (plan_id: string) => {
    billing.stripe.update(path.split('/').at(-1) ?? '', { created: Date.parse('2040-01-01') / 1000 });
    const changed = await billing.call('POST', `${path}/submit`, { form: { action: 'change_plan', plan_id } });
    expect(changed.status).toBeLessThan(400);
  };
};

/** Makes requests until one is refused. Returns the number of admitted ones and the refusal. */
const spendUntilRefused = async (userId: string, cost_micros: number) => {
  for (let admitted = 0; admitted < 50; admitted += 1) {
    const { requestId, answer } = await billing.admit(userId);
    if (answer.body.verdict !== 'admitted') return { admitted, refusal: answer.body };
    await billing.settle(requestId, { outcome: 'settled', cost_micros });
  }
  throw new Error('every request was admitted');
};

describe('a change of the interval', () => {
  test('admits nothing more when it is made six times after the weekly cap was reached', async () => {
    const { userId, token } = await billing.subscribe();
    const changeTo = await openPortal(token);
    expect(await spendUntilRefused(userId, 250)).toMatchObject({ admitted: 4 });
    for (let day = 1; day <= 6; day += 1) {
      await billing.setClock(new Date(Date.UTC(2026, 9, 1 + day, 12)));
      await changeTo(day % 2 === 1 ? 'yearly' : 'basic');
      const resets_at = new Date(Date.UTC(2026, 9, 8 + day, 12)).toISOString();
      expect(await spendUntilRefused(userId, 250)).toMatchObject({
        admitted: 0,
        refusal: { verdict: 'weekly_limit_exceeded', resets_at },
      });
      expect((await usageOf(token)).weekly).toMatchObject({ used_micros: 1000, used_percent: 100, resets_at });
      expect((await usageOf(token)).monthly.used_micros).toBe(1000);
    }
    await billing.setClock('2026-10-14T12:00:00Z');
    expect((await usageOf(token)).weekly.used_micros).toBe(0);
    expect(await spendUntilRefused(userId, 250)).toMatchObject({ admitted: 4 });
  });

  test('counts a request once that was admitted before it and settles after it', async () => {
    const { userId, token } = await billing.subscribe();
    const changeTo = await openPortal(token);
    const { requestId } = await billing.admit(userId);
    const other = await billing.admit(userId, { estimate_micros: 70 });
    await billing.settle(other.requestId, { outcome: 'uncertain' });
    await billing.setClock('2026-10-03T12:00:00Z');
    await changeTo('yearly');
    await changeTo('basic');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 300 });
    expect((await usageOf(token)).weekly.used_micros).toBe(370);
    await billing.settle(other.requestId, { outcome: 'settled', cost_micros: 40 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 300 });
    const { weekly, monthly } = await usageOf(token);
    expect([weekly.used_micros, monthly.used_micros]).toEqual([340, 340]);
  });

  test.each(['week', 'month'] as const)('keeps the use and the holds of an app budget per %s', async (period) => {
    const { userId, token } = await billing.subscribe();
    const changeTo = await openPortal(token);
    const terms = `/internal/accounts/${userId}/apps/${APP}/terms`;
    await billing.internal('PATCH', terms, { budget: { limit_micros: 300, period } });
    const spent = await billing.admit(userId, { hold_micros: 100 });
    await billing.settle(spent.requestId, { outcome: 'settled', cost_micros: 100 });
    const running = await billing.admit(userId, { hold_micros: 150 });
    await billing.setClock('2026-10-03T12:00:00Z');
    await changeTo('yearly');
    expect((await billing.admit(userId, { hold_micros: 51 })).answer.body.verdict).toBe('app_requests_pending');
    await billing.settle(running.requestId, { outcome: 'settled', cost_micros: 150 });
    const refused = (await billing.admit(userId, { hold_micros: 51 })).answer.body;
    const resets_at = period === 'week' ? '2026-10-10T12:00:00.000Z' : '2026-11-03T12:00:00.000Z';
    expect(refused).toMatchObject({ verdict: 'app_limit_exceeded', resets_at });
    // A limit that is set anew counts the same use.
    const other = period === 'week' ? 'month' : 'week';
    const renewed = await billing.internal('PATCH', terms, { budget: { limit_micros: 300, period: other } });
    expect(renewed.body.budget.used_micros).toBe(250);
  });

  test('raises no alert twice', async () => {
    const { userId, token } = await billing.subscribe();
    const changeTo = await openPortal(token);
    const spend = async (cost_micros: number) => {
      const { requestId } = await billing.admit(userId);
      await billing.settle(requestId, { outcome: 'settled', cost_micros });
    };
    await spend(550);
    await billing.setClock('2026-10-03T12:00:00Z');
    await changeTo('full');
    await changeTo('yearly');
    await changeTo('basic');
    await spend(240);
    await spend(20);
    const raised = await billing
      .db('outbox')
      .where({ subject: events.alertRaised.subject })
      .whereRaw("payload->>'svc_user_id' = ?", [userId])
      .orderBy('seq')
      .select('payload');
    const weekly = raised.map(({ payload }) => payload).filter(({ subject }) => subject === 'weekly_cap');
    expect(weekly.map(({ threshold_percent }) => threshold_percent)).toEqual([50, 80]);
  });
});

describe('a new subscription', () => {
  const endAndBuyAgain = async (first: Awaited<ReturnType<TestBilling['subscribe']>>, at: string) => {
    const path = `/sandbox/payments/subscriptions/${first.subscriptionId}`;
    await billing.call('POST', path, { json: { status: 'canceled' } });
    await billing.setClock(at);
    await billing.subscribe('basic', first.userId);
    return await usageOf(first.token);
  };

  test('keeps the use of the windows that still run', async () => {
    const first = await billing.subscribe();
    await spendUntilRefused(first.userId, 500);
    const { weekly, monthly } = await endAndBuyAgain(first, '2026-10-05T12:00:00Z');
    expect(weekly).toMatchObject({ used_micros: 1000, resets_at: '2026-10-12T12:00:00.000Z' });
    expect(monthly).toMatchObject({ used_micros: 1000, resets_at: '2026-11-05T12:00:00.000Z' });
  });

  test('keeps no use of windows that have ended', async () => {
    const first = await billing.subscribe();
    await spendUntilRefused(first.userId, 500);
    const { weekly, monthly } = await endAndBuyAgain(first, '2026-11-02T00:00:00Z');
    expect(weekly).toMatchObject({ used_micros: 0, resets_at: '2026-11-09T00:00:00.000Z' });
    expect(monthly).toMatchObject({ used_micros: 0, resets_at: '2026-12-02T00:00:00.000Z' });
  });
});

const DAY_HOURS = 24;
const COST_MAX = 700;
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), cost: fc.integer({ min: 1, max: COST_MAX }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 200 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      plan: fc.constantFrom('basic', 'yearly'),
      anchorHours: fc.oneof(fc.constant(0), fc.integer({ min: -40 * DAY_HOURS, max: 20 * DAY_HOURS })),
      periodHours: fc.constantFrom(DAY_HOURS, 14 * DAY_HOURS, 30 * DAY_HOURS),
    }),
  },
);

/**
 * The bound: each week lasts at least seven days, and admits at most the largest weekly cap and two overruns. Any span of
 * seven days therefore meets at most two weeks, as it does without any change of terms.
 */
test('admits at most the largest weekly cap and two overruns in a week of at least seven days, after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (story) => {
      let now = new Date('2026-10-01T12:00:00Z');
      await billing.setClock(now);
      const { userId } = await billing.subscribe();
      await billing.db('plans').update({ monthly_limit_micros: 1_000_000 });
      const open: { requestId: string; cost: number }[] = [];
      const admittedByWeek = new Map<number, number>();
      const settleOldest = async () => {
        const oldest = open.shift();
        if (oldest !== undefined) {
          await billing.settle(oldest.requestId, { outcome: 'settled', cost_micros: oldest.cost });
        }
      };
      for (const act of story) {
        if (act.do === 'wait') now = new Date(now.getTime() + act.hours * HOUR_MS);
        await billing.setClock(now);
        if (act.do === 'settle') await settleOldest();
        if (act.do === 'change') {
          const anchor = new Date(now.getTime() + act.anchorHours * HOUR_MS);
          const end = new Date(now.getTime() + act.periodHours * HOUR_MS);
          const interval = act.plan === 'yearly' ? 'year' : 'month';
          const values = [userId, 'active', act.plan, anchor, interval, now, end];
          await billing.db.raw('SELECT entitle_account(?, ?, ?, NULL, ?, ?, ?, ?)', values);
        }
        if (act.do === 'ask') {
          const { requestId, answer } = await billing.admit(userId);
          if (answer.body.verdict !== 'admitted') continue;
          open.push({ requestId, cost: act.cost });
          const { week_start } = await billing.db('accounts').where({ svc_user_id: userId }).first();
          const week = week_start.getTime();
          admittedByWeek.set(week, (admittedByWeek.get(week) ?? 0) + act.cost);
        }
      }
      while (open.length > 0) await settleOldest();
      const weeks = [...admittedByWeek.keys()].sort((one, other) => one - other);
      for (const [index, week] of weeks.entries()) {
        expect(week - (weeks[index - 1] ?? -WEEK_MS)).toBeGreaterThanOrEqual(WEEK_MS);
        expect(admittedByWeek.get(week)).toBeLessThan(1000 + 2 * COST_MAX);
      }
      expect(await checkBalances(billing.db)).toEqual([]);
    }),
    { numRuns: 30 },
  );
}, 120_000);

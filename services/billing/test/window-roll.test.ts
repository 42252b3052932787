import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { type TestBilling, testBilling } from './support/billing.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

/** Returns the anchor's day some months later, or the last day of a shorter month, without the code under test. */
const anniversary = (anchor: Date, months: number): Date => {
  const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth() + months + 1, 0)).getUTCDate();
  const day = Math.min(anchor.getUTCDate(), lastDay);
  return new Date(
    Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth() + months, day) + (anchor.getTime() % (24 * HOUR_MS)),
  );
};
const nextAfter = (at: Date, step: (count: number) => Date): { start: Date; end: Date } => {
  let count = 1;
  while (step(count) <= at) count += 1;
  return { start: step(count - 1), end: step(count) };
};

const weekAt = (begin: Date, at: Date) => nextAfter(at, (count) => new Date(begin.getTime() + count * WEEK_MS));
const monthAt = (begin: Date, at: Date) => nextAfter(at, (count) => anniversary(begin, count));

/** Month ends, a leap day, and an ordinary day. */
const anchor = fc.constantFrom(
  ...[
    '2028-01-31T09:00:00Z',
    '2027-10-31T23:30:00Z',
    '2028-02-29T00:00:00Z',
    '2026-12-30T12:00:00Z',
    '2027-06-15T06:00:00Z',
  ],
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('spend' as const), cost: fc.integer({ min: 0, max: 90 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 30, 167, 168, 400, 696, 744) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('plan' as const), plan: fc.constantFrom('basic', 'full') }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clock back' as const), minutes: fc.integer({ min: 1, max: 600 }) }),
  },
);

test('counts use in the windows of its admission across month ends, leap days, late renewals, plan changes and clock steps', async () => {
  await fc.assert(
    fc.asyncProperty(anchor, fc.array(step, { minLength: 4, maxLength: 14 }), async (start, story) => {
      const begin = new Date(start);
      let now = begin;
      await billing.setClock(now);
      const { userId, token } = await billing.subscribe('full');
      const portal = await billing.call('POST', '/v1/subscriptions/portal', {
        token,
        json: { return_url: 'https://shop.example/' },
      });
      const spent: { at: Date; cost: number }[] = [];
      for (const act of story) {
        if (act.do === 'wait') now = new Date(now.getTime() + act.hours * HOUR_MS);
        if (act.do === 'clock back') {
          // Stays within the current windows. The admission tests cover larger steps.
          const since = Math.max(weekAt(begin, now).start.getTime(), monthAt(begin, now).start.getTime());
          now = new Date(Math.max(since, now.getTime() - act.minutes * 60_000));
        }
        await billing.setClock(now);
        if (act.do === 'renew') await billing.tick();
        if (act.do === 'plan') {
          const { pathname } = new URL(portal.body.url);
          billing.stripe.update(pathname.split('/').at(-1) ?? '', { created: Date.parse('2040-01-01') / 1000 });
          const form = { action: 'change_plan', plan_id: act.plan };
          await billing.call('POST', `${pathname}/submit`, { form });
        }
        if (act.do === 'spend') {
          const { requestId, answer } = await billing.admit(userId);
          if (answer.body.verdict === 'admitted') {
            spent.push({ at: now, cost: act.cost });
            await billing.settle(requestId, { outcome: 'settled', cost_micros: act.cost });
          }
        }
        const week = weekAt(begin, now);
        const month = monthAt(begin, now);
        const usage = (await billing.call('GET', '/v1/subscriptions/usage', { token })).body;
        const sum = ({ start: from, end }: { start: Date; end: Date }) =>
          spent.filter(({ at }) => at >= from && at < end).reduce((total, { cost }) => total + cost, 0);
        expect([usage.weekly.resets_at, usage.weekly.used_micros]).toEqual([week.end.toISOString(), sum(week)]);
        expect([usage.monthly.resets_at, usage.monthly.used_micros]).toEqual([month.end.toISOString(), sum(month)]);
        expect(usage.weekly.used_percent === 100).toBe(usage.weekly.used_micros >= usage.weekly.limit_micros);
      }
      expect(await checkBalances(billing.db)).toEqual([]);
    }),
    { numRuns: 25 },
  );
}, 180_000);

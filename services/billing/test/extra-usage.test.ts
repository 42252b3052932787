import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts, HOLDER, reportOf } from './support/gateway-accounts.ts';

/** Weekly cap of the plan in the tests. */
const CAP = 1_000;
/** Amount of a top-up. */
const FUNDS = 10_000_000;
const PATH = '/v1/subscriptions/extra-usage';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(async () => {
  expect(await checkBalances(billing.db)).toEqual([]);
  await billing.stop();
});
beforeEach(() => billing.setClock('2026-10-12T12:00:00Z'));

const setExtra = async (token: string, monthly_max_micros: number, enabled = true) =>
  await billing.call('PUT', PATH, { token, json: { enabled, monthly_max_micros } });
const readExtra = async (token: string) => (await billing.call('GET', PATH, { token })).body;

const admit = async (userId: string, hold_micros: number, more: Record<string, unknown> = {}) => {
  const { requestId, answer } = await billing.admit(userId, { hold_micros, estimate_micros: hold_micros, ...more });
  return { requestId, ...answer.body };
};
const use = async (userId: string, cost_micros: number, hold_micros = cost_micros): Promise<string> => {
  const { requestId, verdict } = await admit(userId, hold_micros);
  expect(verdict).toBe('admitted');
  await billing.settle(requestId, { outcome: 'settled', cost_micros });
  return requestId;
};

/** Creates an account whose plan is used up, with money in the wallet and a ceiling of extra use. */
const capped = async ({ wallet = FUNDS, ceiling = 1_000_000 } = {}) => {
  const owner = await accounts.fund();
  // No top-up is this small.
  if (wallet < FUNDS) {
    const { requestId } = await accounts.ask(owner, { hold_micros: FUNDS - wallet });
    await accounts.settle(requestId, { outcome: 'settled', cost_micros: FUNDS - wallet });
  }
  await billing.subscribe('basic', owner.userId);
  await use(owner.userId, CAP);
  if (ceiling > 0) await setExtra(owner.token, ceiling);
  return owner;
};

const alertsOf = async (userId: string) =>
  await billing
    .db('outbox')
    .whereRaw(`payload ->> 'svc_user_id' = ? AND payload ->> 'subject' = 'extra_use'`, [userId])
    .orderBy('seq')
    .pluck('payload');

describe('the setting', () => {
  test('is off with a ceiling of 0 until it is set, and takes no unknown fields', async () => {
    const { token } = await accounts.signIn();
    const resets_at = '2026-11-01T00:00:00.000Z';
    expect(await readExtra(token)).toEqual({ enabled: false, monthly_max_micros: 0, used_micros: 0, resets_at });
    const put = await setExtra(token, 5_000_000);
    expect([put.status, put.body]).toEqual([
      200,
      { enabled: true, monthly_max_micros: 5_000_000, used_micros: 0, resets_at },
    ]);
    expect(await readExtra(token)).toEqual(put.body);
    const json = { enabled: true, monthly_max_micros: -1 };
    expect((await billing.call('PUT', PATH, { token, json })).status).toBe(422);
    expect((await billing.call('PUT', PATH, { token, json: { enabled: true } })).status).toBe(422);
  });
});

describe('at a cap', () => {
  test('refuses as ever without extra use, and says nothing of it', async () => {
    const { userId } = await capped({ ceiling: 0 });
    expect(await admit(userId, 10)).toEqual({
      requestId: expect.any(String),
      verdict: 'weekly_limit_exceeded',
      resets_at: '2026-10-19T12:00:00.000Z',
    });
  });

  test('goes on at the cost of the wallet, which holds the highest cost and pays the true one', async () => {
    const owner = await capped();
    const { requestId } = await admit(owner.userId, 500);
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 500 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 120 });
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 9_999_880, held_micros: 0 });
    expect(await readExtra(owner.token)).toMatchObject({ used_micros: 120 });
    expect(await accounts.postedOf(requestId)).toEqual([
      ['settlement', 'income', 120],
      ['settlement', 'wallet_available', -120],
    ]);
    const usage = await billing.call('GET', '/v1/subscriptions/usage', { token: owner.token });
    expect(usage.body.weekly.used_micros).toBe(CAP);
    const [transaction] = (await billing.call('GET', '/v1/gateway/wallet/transactions', { token: owner.token })).body
      .data;
    expect(transaction).toMatchObject({
      amount_micros: -120,
      extra_use_micros: 120,
      description: 'Extra use on 2026-10-12 (UTC)',
    });
  });

  test('shows the app who paid, in usage, record and receipt', async () => {
    const { userId } = await accounts.fund();
    await billing.subscribe('basic', userId);
    const token = await billing.tokens.accessToken({ userId, clientId: APP });
    const ofPlan = await use(userId, CAP);
    await setExtra(await billing.tokens.consoleSession({ userId }), 1_000);
    const { requestId: ofWallet } = await admit(userId, 100);
    await billing.settle(ofWallet, { outcome: 'released' });
    const payerOf = async (id: string) => {
      const path = `/v1/integrations/usage/requests/${id}`;
      const record = await billing.call('GET', path, { token });
      if (id === ofWallet) {
        const [, claims] = (await billing.call('GET', `${path}/receipt`, { token })).body.receipt.split('.');
        expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ paid_by: 'wallet' });
      }
      return record.body.paid_by;
    };
    expect([await payerOf(ofPlan), await payerOf(ofWallet)]).toEqual(['plan', 'wallet']);
    const { body } = await billing.call('GET', '/v1/integrations/usage', { token });
    expect(body.extra).toEqual({ enabled: true, used_micros: 0, limit_micros: 1_000 });
  });

  test.each([
    ['ceiling', { ceiling: 300 }, 301],
    ['wallet', { wallet: 10_000, ceiling: 1_000_000 }, 10_001],
  ])('keeps the code of the cap, and names the %s that does not cover the request', async (reason, given, hold) => {
    const { userId } = await capped(given);
    expect(await admit(userId, hold)).toMatchObject({ verdict: 'weekly_limit_exceeded', extra: { reason } });
    expect(await admit(userId, hold - 1)).toMatchObject({ verdict: 'admitted' });
  });

  test('fits the hold to what is left if the request accepts less', async () => {
    const { userId } = await capped({ ceiling: 300 });
    expect(await admit(userId, 5_000, { hold_min_micros: 200 })).toMatchObject({
      verdict: 'admitted',
      hold_micros: 300,
    });
    expect(await admit(userId, 5_000, { hold_min_micros: 1 })).toMatchObject({ extra: { reason: 'ceiling' } });
  });

  test('recalls what an idle lease holds of the wallet before it refuses', async () => {
    const owner = await capped({ wallet: 10_000 });
    await billing.internal('PUT', `/internal/holders/${HOLDER}`, { internal_url: 'http://127.0.0.1:9' });
    const { answer } = await accounts.ask(owner, { hold_micros: 9_000 });
    expect(answer.granted_micros).toBe(9_000);
    billing.recallLeases = async ({ leaseIds }) =>
      leaseIds.map((lease_id) => ({ lease_id, report: reportOf({ returned_micros: 9_000 }) }));
    expect(await admit(owner.userId, 5_000)).toMatchObject({ verdict: 'admitted' });
    billing.recallLeases = () => Promise.reject(new Error('the gateway process is gone'));
  });

  test('keeps two places, and counts for the budget of the app', async () => {
    const { userId } = await capped();
    const terms = { budget: { limit_micros: CAP + 300, period: 'week' } };
    await billing.internal('PATCH', `/internal/accounts/${userId}/apps/${APP}/terms`, terms);
    const first = await admit(userId, 200);
    expect(await admit(userId, 200)).toMatchObject({ verdict: 'app_requests_pending' });
    await admit(userId, 100);
    expect(await admit(userId, 1)).toMatchObject({ verdict: 'subscription_requests_pending' });
    await billing.settle(first.requestId, { outcome: 'settled', cost_micros: 200 });
    expect(await admit(userId, 101)).toMatchObject({ verdict: 'app_limit_exceeded' });
  });

  test('pays no more than the hold, and writes the rest off', async () => {
    const owner = await capped({ ceiling: 300 });
    const requestId = await use(owner.userId, 700, 300);
    expect(await readExtra(owner.token)).toMatchObject({ used_micros: 300 });
    expect(await accounts.postedOf(requestId)).toEqual([
      ['settlement', 'income', 700],
      ['settlement', 'wallet_available', -300],
      ['settlement', 'write_offs', -400],
    ]);
  });

  test('keeps the hold of an uncertain request, settles it at its estimate, and corrects that once', async () => {
    const owner = await capped();
    const { requestId } = await admit(owner.userId, 500, { estimate_micros: 400 });
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect(await accounts.wallet(owner.token)).toMatchObject({ held_micros: 500 });
    await billing.setClock('2026-10-13T13:00:00Z');
    await billing.app.sweep();
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 9_999_600, held_micros: 0 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 30 });
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 9_999_970 });
    expect(await readExtra(owner.token)).toMatchObject({ used_micros: 30 });
  });

  test('counts each calendar month (UTC) anew, and a request for the month of its admission', async () => {
    await billing.setClock('2026-10-26T12:00:00Z');
    const owner = await capped({ ceiling: 300 });
    await billing.setClock('2026-10-31T23:59:59Z');
    const { requestId } = await admit(owner.userId, 300);
    await billing.setClock('2026-11-01T00:00:00Z');
    expect(await admit(owner.userId, 300)).toMatchObject({ verdict: 'admitted' });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 250 });
    expect(await readExtra(owner.token)).toMatchObject({ used_micros: 0, resets_at: '2026-12-01T00:00:00.000Z' });
    expect(await checkBalances(billing.db)).toEqual([]);
  });

  test('ends with the setting, from the next request on', async () => {
    const owner = await capped();
    const { requestId } = await admit(owner.userId, 100);
    await setExtra(owner.token, 1_000_000, false);
    expect(await admit(owner.userId, 100)).not.toHaveProperty('extra');
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 100 });
    expect(await readExtra(owner.token)).toMatchObject({ enabled: false, used_micros: 100 });
  });

  test('raises an alert at 50, 80 and 100 percent of the ceiling, each once a month', async () => {
    const owner = await capped({ ceiling: 1_000 });
    for (const cost of [499, 10, 300, 150]) await use(owner.userId, cost);
    for (let time = 0; time < 2; time += 1) await admit(owner.userId, 5_000, { hold_min_micros: 100 });
    const alerts = await alertsOf(owner.userId);
    expect(alerts.map(({ threshold_percent, amount_micros }) => [threshold_percent, amount_micros])).toEqual([
      [50, 509],
      [80, 809],
      [100, 959],
    ]);
    expect(alerts[0]).toMatchObject({ limit_micros: 1_000, resets_at: '2026-11-01T00:00:00.000Z' });
  });
});

/** End of a request: its gateway reports the cost, or dies before or after that. */
const fate = fc.record({
  hold: fc.integer({ min: 1, max: 400 }),
  accepts: fc.boolean(),
  cost: fc.nat(600),
  end: fc.constantFrom('settled', 'released', 'killed', 'killed late'),
});

test('never exceeds ceiling, wallet or budget under 64 parallel requests, API-key requests and kills', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { minLength: 64, maxLength: 64 }),
      fc.record({
        wallet: fc.constantFrom(1_000, 3_000),
        ceiling: fc.constantFrom(900, 2_500),
        budget: fc.integer({ min: 500, max: 4_000 }),
      }),
      async (fates, { wallet, ceiling, budget }) => {
        const owner = await capped({ wallet, ceiling });
        const { userId, token } = owner;
        const terms = { budget: { limit_micros: CAP + budget, period: 'week' } };
        await billing.internal('PATCH', `/internal/accounts/${userId}/apps/${APP}/terms`, terms);
        const check = async () => {
          const [{ balance_micros, held_micros }, extra, row] = await Promise.all([
            accounts.wallet(token),
            billing.db('extra_usage').where({ svc_user_id: userId }).first('used_micros', 'held_micros'),
            billing
              .db('app_budgets')
              .where({ svc_user_id: userId })
              .first('used_micros', 'held_micros', 'uncertain_micros'),
          ]);
          expect(balance_micros).toBeGreaterThanOrEqual(held_micros);
          expect(extra.used_micros + extra.held_micros).toBeLessThanOrEqual(ceiling);
          expect(row.used_micros + row.held_micros + row.uncertain_micros).toBeLessThanOrEqual(CAP + budget);
        };
        const serve = async ({ hold, accepts, cost, end }: (typeof fates)[number], place: number) => {
          if (place % 16 === 0) {
            const asked = await accounts.ask(owner, { hold_micros: hold });
            if (asked.body.verdict === 'granted')
              await accounts.settle(asked.requestId, { outcome: 'settled', cost_micros: cost });
            return;
          }
          for (let tries = 0; tries < 20; tries += 1) {
            const { requestId, verdict } = await admit(userId, hold, accepts ? { hold_min_micros: 1 } : {});
            if (verdict === 'admitted') {
              if (end.startsWith('killed')) await billing.settle(requestId, { outcome: 'uncertain' });
              if (end !== 'killed')
                await billing.settle(
                  requestId,
                  end === 'released' ? { outcome: 'released' } : { outcome: 'settled', cost_micros: cost },
                );
              await check();
              return;
            }
            if (verdict !== 'subscription_requests_pending') return;
          }
        };
        await Promise.all(fates.map(serve));
        await check();
        expect(await checkBalances(billing.db)).toEqual([]);
      },
    ),
    { numRuns: 3 },
  );
}, 120_000);

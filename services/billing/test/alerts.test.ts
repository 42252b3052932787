import { events, newId } from '@svc/contracts';
import { afterAll, describe, expect, test } from 'vitest';
import { APP, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

const billing = await testBilling();
const { fund, ask, signIn, settle, startTopUp } = gatewayAccounts(billing);
afterAll(() => billing.stop());

const PATH = '/v1/subscriptions/alerts';
const DEFAULTS = { thresholds_percent: [50, 80, 100], wallet_below_micros: 2_000_000 };

/** Reads the published alerts of an account, oldest first, each by the contract. */
const alertsOf = async (userId: string) => {
  const rows = await billing
    .db('outbox')
    .where({ subject: events.alertRaised.subject, stream: 'BILLING' })
    .whereRaw("payload->>'svc_user_id' = ?", [userId])
    .orderBy('seq');
  expect(new Set(rows.map(({ aggregate }) => aggregate)).size).toBe(rows.length);
  return rows.map(({ payload }) => events.alertRaised.schema.parse(payload));
};
const thresholdsOf = async (userId: string, subject: string) =>
  (await alertsOf(userId)).filter((alert) => alert.subject === subject).map((alert) => alert.threshold_percent);

/** Uses the plan and settles at this cost. */
const use = async (userId: string, cost_micros: number) => {
  const { requestId, answer } = await billing.admit(userId);
  expect(answer.body.verdict).toBe('admitted');
  await billing.settle(requestId, { outcome: 'settled', cost_micros });
};
const spend = async (owner: Awaited<ReturnType<typeof signIn>>, cost_micros: number, more: object = {}) => {
  const { requestId, body } = await ask(owner, { hold_micros: cost_micros, ...more });
  expect(body.verdict).toBe('granted');
  await settle(requestId, { outcome: 'settled', cost_micros });
};

describe('alert settings', () => {
  test('are the defaults until they are set, and then what was set, ascending and without repetitions', async () => {
    const { token } = await signIn();
    expect((await billing.call('GET', PATH, { token })).body).toEqual(DEFAULTS);
    const json = { thresholds_percent: [90, 10, 90], wallet_below_micros: null };
    const set = await billing.call('PUT', PATH, { token, json });
    expect([set.status, set.body]).toEqual([200, { ...json, thresholds_percent: [10, 90] }]);
    expect((await billing.call('GET', PATH, { token })).body).toEqual(set.body);
  });

  test.each([
    { thresholds_percent: [0], wallet_below_micros: null },
    { thresholds_percent: [101], wallet_below_micros: null },
    { thresholds_percent: [50], wallet_below_micros: 0 },
    { thresholds_percent: [50] },
    { ...DEFAULTS, more: 1 },
  ])('returns 422 for %j', async (json) => {
    const { token } = await signIn();
    expect((await billing.call('PUT', PATH, { token, json })).status).toBe(422);
  });
});

describe('an alert of a cap', () => {
  test('is published once per window and threshold, for the highest one that a settlement crosses', async () => {
    const { userId } = await billing.subscribe('basic');
    await use(userId, 499);
    expect(await alertsOf(userId)).toEqual([]);
    await use(userId, 1);
    await use(userId, 10);
    await use(userId, 490);
    const [half, full] = await alertsOf(userId);
    expect(half).toMatchObject({
      subject: 'weekly_cap',
      threshold_percent: 50,
      amount_micros: 500,
      limit_micros: 1_000,
    });
    expect(full).toMatchObject({ threshold_percent: 100, amount_micros: 1_000, client_id: null, key_id: null });
    const { week_end } = await billing.db('accounts').where({ svc_user_id: userId }).first();
    expect(half?.resets_at).toBe(week_end.toISOString());
    expect(await alertsOf(userId)).toHaveLength(2);

    await billing.setClock(new Date(week_end.getTime() + 1_000));
    try {
      await use(userId, 600);
      expect(await thresholdsOf(userId, 'weekly_cap')).toEqual([50, 100, 50]);
      expect(await thresholdsOf(userId, 'monthly_cap')).toEqual([50]);
    } finally {
      await billing.setClock(null);
    }
  });

  test('is published once when an uncertain request crosses the threshold again with its true cost', async () => {
    const { userId } = await billing.subscribe('basic');
    const { requestId } = await billing.admit(userId, { estimate_micros: 600 });
    await billing.settle(requestId, { outcome: 'uncertain' });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 100 });
    await use(userId, 450);
    expect(await thresholdsOf(userId, 'weekly_cap')).toEqual([50]);
  });

  test('follows the settings of its owner, and is off without thresholds', async () => {
    const { userId, token } = await billing.subscribe('basic');
    await billing.call('PUT', PATH, { token, json: { thresholds_percent: [], wallet_below_micros: null } });
    await use(userId, 700);
    expect(await alertsOf(userId)).toEqual([]);
    await billing.call('PUT', PATH, { token, json: { thresholds_percent: [75], wallet_below_micros: null } });
    await use(userId, 50);
    expect(await thresholdsOf(userId, 'weekly_cap')).toEqual([75]);
  });
});

test("publishes an alert of an app's budget once, though requests end in parallel", async () => {
  const { userId } = await billing.subscribe('full');
  await billing.internal('PATCH', `/internal/accounts/${userId}/apps/${APP}/terms`, {
    budget: { limit_micros: 1_000, period: 'total' },
  });
  for (let round = 0; round < 5; round += 1) {
    const requests = await Promise.all([billing.admit(userId), billing.admit(userId)]);
    await Promise.all(
      requests.map(({ requestId }) => billing.settle(requestId, { outcome: 'settled', cost_micros: 100 })),
    );
  }
  const alerts = (await alertsOf(userId)).filter(({ subject }) => subject === 'app_budget');
  expect(
    alerts.map(({ threshold_percent, client_id, resets_at }) => [threshold_percent, client_id, resets_at]),
  ).toEqual([
    [50, APP, null],
    [80, APP, null],
    [100, APP, null],
  ]);
});

test("publishes alerts of an API key's monthly limit, and none for a key without a limit", async () => {
  const owner = await fund(20_000_000);
  for (let round = 0; round < 4; round += 1) await spend(owner, 250_000, { monthly_limit_micros: 1_000_000 });
  await spend({ ...owner, keyId: newId('key') }, 1_000_000);
  expect((await alertsOf(owner.userId)).map(({ key_id, threshold_percent }) => [key_id, threshold_percent])).toEqual([
    [owner.keyId, 50],
    [owner.keyId, 100],
  ]);
});

test('publishes an alert when the wallet falls below the amount, and again only after it was above it', async () => {
  const owner = await fund(3_000_000);
  await spend(owner, 1_000_000);
  expect(await alertsOf(owner.userId)).toEqual([]);
  await spend(owner, 100_000);
  await spend(owner, 100_000);
  expect(await alertsOf(owner.userId)).toMatchObject([
    {
      subject: 'wallet',
      threshold_percent: null,
      amount_micros: 1_900_000,
      limit_micros: 2_000_000,
      resets_at: null,
      currency: 'EUR',
    },
  ]);
  const { body } = await startTopUp(owner.token, 1_000_000);
  await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
  await spend(owner, 1_000_000);
  const amounts = async () => (await alertsOf(owner.userId)).map(({ amount_micros }) => amount_micros);
  expect(await amounts()).toEqual([1_900_000, 1_800_000]);
  const settings = (wallet_below_micros: number) =>
    billing.call('PUT', PATH, { token: owner.token, json: { ...DEFAULTS, wallet_below_micros } });
  await settings(2_000_001);
  await spend(owner, 100_000);
  expect(await amounts()).toHaveLength(2);
  await settings(1_700_000);
  await spend(owner, 100_000);
  expect(await amounts()).toEqual([1_900_000, 1_800_000, 1_600_000]);
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-plans-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Starts billing in a currency, with prices of 2,000 units. */
const billingIn = async (currency: string) => {
  const file = join(directory, `${currency}.yaml`);
  const plans = readFileSync(new URL('./support/plans.yaml', import.meta.url), 'utf8');
  const priced = plans.replaceAll('EUR', currency).replaceAll(/(?<= amount_micros: )\d+/g, '2000000000');
  writeFileSync(file, priced);
  return await stripeBilling({ BILLING_CURRENCY: currency, PLANS_FILE: file });
};

describe.each([
  ['JPY', 1_000_000, 1],
  ['KWD', 10_000, 1000],
  ['ISK', 1_000_000, 100],
  ['HUF', 10_000, 100],
])('in %s', async (currency, stepMicros, minorUnits) => {
  const { stripe, billing, stop, ...people } = await billingIn(currency);
  afterAll(stop);
  const topUp = (token: string, amount_micros: number) =>
    billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json: { amount_micros, ...RETURNS } });

  test('a top-up is charged and credited in its own minor units', async () => {
    const { token } = await people.signIn();
    const { session_id } = (await topUp(token, 1_000_000_000)).body;
    const session = stripe.object(people.stripeSessionOf(session_id));
    expect(session).toMatchObject({ amount_total: 1_000 * minorUnits, currency: currency.toLowerCase() });
    people.pay(session_id);
    expect((await people.confirm(token, session_id)).body.wallet).toMatchObject({
      balance_micros: 1_000_000_000,
      currency,
    });
  });

  test('a paid subscription is taken at its price', async () => {
    const { token } = await people.signIn();
    const { session_id } = (await people.checkout(token)).body;
    const paid = { amount_total: 2_000 * minorUnits, currency: currency.toLowerCase() };
    stripe.update(people.stripeSessionOf(session_id), paid);
    people.pay(session_id);
    expect((await people.confirm(token, session_id)).body.subscription).toMatchObject({ status: 'active' });
  });

  test('a part of a minor unit is 422 where a person states it', async () => {
    const { userId, token } = await people.signIn();
    const part = stepMicros / 2;
    const settings = { enabled: false, below_micros: 1, amount_micros: 1_000_000_000 + part, monthly_max_micros: 0 };
    const refund = { refund_id: 'refund-of-a-part', session_id: 'cs_0000000000000000000000', amount_micros: part };
    const answers = [
      await topUp(token, 1_000_000_000 + part),
      await billing.call('PUT', '/v1/gateway/wallet/auto-top-up', { token, json: settings }),
      await billing.internal('POST', `/internal/accounts/${userId}/wallet/refunds`, refund),
    ];
    expect(answers.map(({ status, body }) => [status, body.detail?.[0]?.loc.at(-1)])).toEqual(
      answers.map(() => [422, 'amount_micros']),
    );
  });
});

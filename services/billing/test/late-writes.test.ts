import { newId } from '@svc/contracts';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { RETURNS } from './support/billing.ts';
import { organizations } from './support/organizations.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, signIn, checkout, confirm, pay } = await stripeBilling();
const people = organizations(billing);
afterAll(stop);
beforeEach(() => {
  reset();
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await billing.setClock(null);
  expect(await checkBalances(billing.db)).toEqual([]);
});

const LATER_MS = 25 * 3_600_000;
const AUTO = { enabled: true, below_micros: 5_000_000, amount_micros: 10_000_000, monthly_max_micros: 10_000_000 };

/** Moves all clocks on, so that Stripe has forgotten every idempotency key. */
const sleep = async (): Promise<void> => {
  vi.setSystemTime(Date.now() + LATER_MS);
  await billing.setClock(new Date());
};
/** Lets the service sleep before the answer to a request arrives, which is lost for a write. Runs `meanwhile` before. */
const sleepDuring = (method: 'GET' | 'POST', path: string, meanwhile = async (): Promise<void> => undefined): void => {
  stripe.misbehavior.losesAnswer = async (...request) => {
    if (request.join() !== [method, path].join()) return false;
    stripe.misbehavior.losesAnswer = async () => false;
    await meanwhile();
    await sleep();
    return method === 'POST';
  };
};
const writesTo = (path: string) => stripe.calls.filter((call) => call.method === 'POST' && call.path === path);
const ofAccount = (userId: string) =>
  stripe.list('customer').filter(({ metadata }) => metadata['svc_user_id'] === userId);

const fund = async () => {
  const { userId, token } = await signIn();
  const topUp = { token, json: { amount_micros: 1_000_000, ...RETURNS } };
  const { session_id } = (await billing.call('POST', '/v1/gateway/wallet/top-ups', topUp)).body;
  const payment = pay(session_id)['payment_intent'];
  await confirm(token, session_id);
  const json = { refund_id: newId('req'), amount_micros: 300_000, session_id };
  const refund = () => billing.internal('POST', `/internal/accounts/${userId}/wallet/refunds`, json);
  const refunds = () => stripe.list('refund').filter(({ payment_intent }) => payment_intent === payment);
  const balance = async () => (await billing.db('wallets').where({ svc_user_id: userId }).first()).balance_micros;
  return { userId, token, refund, refunds, balance };
};

test('a refund whose answer is lost during a long sleep is not repeated, and found by the periodic work', async () => {
  const { refund, refunds, balance } = await fund();
  sleepDuring('POST', '/v1/refunds');
  expect((await refund()).status).toBe(503);
  expect(writesTo('/v1/refunds')).toHaveLength(1);
  await billing.tick();
  expect((await refund()).body.state).toBe('refunded');
  expect(refunds()).toMatchObject([{ amount: 30 }]);
  expect(await balance()).toBe(700_000);
}, 30_000);

test('a refund is not made after a long sleep in which another process made it', async () => {
  const { refund, refunds, balance } = await fund();
  sleepDuring('GET', '/v1/refunds', async () => {
    expect((await refund()).body.state).toBe('refunded');
  });
  expect((await refund()).status).toBe(503);
  expect((await refund()).body.state).toBe('refunded');
  expect(refunds()).toHaveLength(1);
  expect(await balance()).toBe(700_000);
}, 30_000);

/** Opens an account whose card is due to be charged. */
const openAutomatic = async () => {
  const account = await fund();
  expect(
    (await billing.call('PUT', '/v1/gateway/wallet/auto-top-up', { token: account.token, json: AUTO })).status,
  ).toBe(200);
  const charges = () =>
    stripe
      .list('payment_intent')
      .filter(({ metadata }) => metadata['svc_user_id'] === account.userId && metadata['svc_charge_id'] !== undefined);
  return { ...account, charges };
};

test('an automatic charge whose answer is lost during a long sleep is not repeated, and credited', async () => {
  const { charges, balance } = await openAutomatic();
  sleepDuring('POST', '/v1/payment_intents');
  await billing.topUpWallets();
  await billing.topUpWallets();
  expect(charges()).toHaveLength(1);
  expect(await balance()).toBe(11_000_000);
}, 30_000);

test.each(['/v1/invoices', '/v1/invoiceitems'])(
  'the invoice of a charge has one item, although an answer of %s is lost during a long sleep',
  async (path) => {
    // Writes the invoices of former tests.
    await billing.tick();
    stripe.calls.length = 0;
    const { charges } = await openAutomatic();
    await billing.topUpWallets();
    sleepDuring('POST', path);
    await billing.tick();
    await sleep();
    await billing.tick();
    const [charge] = charges();
    const invoices = stripe
      .list('invoice')
      .filter(({ metadata }) => metadata['svc_charge_id'] === charge?.metadata['svc_charge_id']);
    expect(invoices).toMatchObject([{ status: 'paid', total: 1_000 }]);
    expect(writesTo(path)).toHaveLength(1);
  },
  30_000,
);

test('a customer whose answer is lost during a long sleep is found by the next purchase', async () => {
  const { userId, token } = await signIn();
  sleepDuring('POST', '/v1/customers');
  expect((await checkout(token)).status).toBe(503);
  const again = await signIn(userId);
  expect((await checkout(again.token)).status).toBe(200);
  const [customer, ...others] = ofAccount(userId);
  expect(others).toEqual([]);
  expect(await billing.db('stripe_customers').where({ svc_user_id: userId })).toMatchObject([
    { customer_id: customer?.id },
  ]);
}, 30_000);

test('a checkout whose answer is lost during a long sleep is not made twice', async () => {
  const { userId, token } = await signIn();
  sleepDuring('POST', '/v1/checkout/sessions');
  expect((await checkout(token)).status).toBe(503);
  const made = stripe.list('checkout.session').filter(({ customer }) => customer === ofAccount(userId)[0]?.id);
  expect(made).toHaveLength(1);
}, 30_000);

test('a change of seats whose answer is lost during a long sleep is not repeated, and applied', async () => {
  const owner = await people.found();
  const { session_id } = (await people.change(owner, 3)).body;
  const path = `/v1/subscriptions/${pay(session_id)['subscription']}`;
  await confirm(owner.token, session_id);
  sleepDuring('POST', path);
  expect((await people.change(owner, 5)).status).toBe(503);
  await billing.tick();
  expect(writesTo(path)).toHaveLength(1);
  const [seats] = await billing.db('seat_orders').where({ svc_user_id: owner.userId });
  expect(seats).toMatchObject({ quantity: 5, wanted_quantity: 5 });
}, 30_000);

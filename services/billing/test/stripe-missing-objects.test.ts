import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, pay, deliver, subscribe } = people;
afterAll(stop);
beforeEach(reset);

const call = (method: string, path: string, token: string, json?: object) =>
  billing.call(method, path, { token, ...(json && { json }) });
const topUp = (token: string, amount_micros = 5_000_000) =>
  call('POST', '/v1/gateway/wallet/top-ups', token, { amount_micros, ...RETURNS });
const portal = (token: string) =>
  call('POST', '/v1/subscriptions/portal', token, { return_url: 'https://shop.example/' });
const customerOf = async (userId: string): Promise<string> =>
  (await billing.db('stripe_customers').where({ svc_user_id: userId }).first('customer_id')).customer_id;
const updated = (id: string) => stripe.event('customer.subscription.updated', id);

/** Creates an account whose subscription has ended. */
const formerSubscriber = async () => {
  const owner = await subscribe();
  stripe.update(owner.stripeId, { status: 'canceled', ended_at: 1_790_000_000 });
  await deliver(updated(owner.stripeId));
  return { ...owner, customer: await customerOf(owner.userId) };
};

describe.each([
  ['deleted in the dashboard', (id: string) => stripe.deleteCustomer(id)],
  ['of another account or mode', (id: string) => stripe.forget(id)],
])('a customer that is %s', (_how, remove) => {
  test.each([
    ['checkout', (token: string) => checkout(token)],
    ['top-up', (token: string) => topUp(token)],
    ['portal', (token: string) => portal(token)],
  ])('is replaced by the next %s', async (_deed, act) => {
    const { userId, token, customer } = await formerSubscriber();
    remove(customer);
    expect((await act(token)).status).toBe(200);
    expect(await customerOf(userId)).not.toBe(customer);
  });

  test('is replaced once by parallel requests', async () => {
    const { userId, token, customer } = await formerSubscriber();
    remove(customer);
    const answers = await Promise.all([topUp(token), topUp(token), portal(token), checkout(token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const made = stripe.list('customer').filter(({ metadata }) => Object(metadata)['svc_user_id'] === userId);
    expect(made.map(({ id }) => id)).toEqual([await customerOf(userId)]);
  });

  test('has no payment method, and only the invoices that Stripe keeps', async () => {
    const { token, customer } = await formerSubscriber();
    remove(customer);
    const settings = { enabled: true, below_micros: 1, amount_micros: 5_000_000, monthly_max_micros: 5_000_000 };
    const answer = await call('PUT', '/v1/gateway/wallet/auto-top-up', token, settings);
    expect(answer.body.detail.code).toBe('payment_method_missing');
    // Those of a customer that was deleted.
    const kept = stripe.list('customer').some(({ id }) => id === customer) ? 1 : 0;
    expect((await call('GET', '/v1/subscriptions/invoices', token)).body.data).toHaveLength(kept);
  });
});

describe('a request that Stripe refuses', () => {
  test.each([
    ['an archived price', '/v1/checkout/sessions', (token: string) => checkout(token)],
    ['a portal that is not configured', '/v1/billing_portal/sessions', (token: string) => portal(token)],
  ])('is 503 payment_provider_unavailable: %s', async (_cause, refused, act) => {
    const { token } = await formerSubscriber();
    stripe.misbehavior.refuse = (method, path) =>
      method === 'POST' && path === refused ? 'price_inactive' : undefined;
    const answer = await act(token);
    expect([answer.status, answer.body.detail.code]).toEqual([503, 'payment_provider_unavailable']);
  });

  test('is 422 at the amount if Stripe does not charge it', async () => {
    const { token } = await signIn();
    stripe.misbehavior.refuse = (method, path) =>
      method === 'POST' && path === '/v1/checkout/sessions' ? 'amount_too_small' : undefined;
    const answer = await topUp(token);
    expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'amount_micros']]);
  });
});

describe('an unknown subscription', () => {
  test('is put back while it may be known again, and ends a week after its paid period', async () => {
    const owner = await subscribe();
    const { current_period_end } = Object(stripe.object(owner.stripeId)['items']).data[0];
    const day = (days: number) => new Date((current_period_end + days * 86_400) * 1000);
    stripe.forget(owner.stripeId);
    await billing.setClock(day(1));
    await billing.tick();
    expect(await current(owner.token)).toMatchObject({ status: 'active' });
    const waiting = { work: 'subscriptions', item: owner.stripeId };
    expect(await billing.db('deferred_items').where(waiting).first()).toMatchObject({ reason: 'missing' });
    await billing.setClock(day(8));
    await billing.tick();
    expect(await current(owner.token)).toMatchObject({ status: 'canceled' });
    expect(await billing.db('deferred_items').where(waiting)).toEqual([]);
    await billing.setClock(null);
  });

  test('of a new purchase leaves the checkout to a later attempt', async () => {
    const { token } = await signIn();
    const { session_id } = (await checkout(token)).body;
    const id = String(pay(session_id)['subscription']);
    const subscription = structuredClone(stripe.object(id));
    const other = structuredClone(Object(subscription['items']));
    other.data[0].price = { id: 'price_of_nobody', product: null };
    stripe.update(id, { items: other });
    expect((await confirm(token, session_id)).body.detail.code).toBe('checkout_not_completed');
    await deliver(stripe.event('checkout.session.completed', people.stripeSessionOf(session_id)));
    stripe.update(id, { items: subscription['items'] });
    await billing.setClock(new Date(Date.now() + 60_000));
    await billing.tick();
    await billing.setClock(null);
    expect(await current(token)).toMatchObject({ status: 'active' });
  });
});

describe('a subscription of a shape that is not known', () => {
  const item = (id: string) => structuredClone(Object(stripe.object(id)['items']).data[0]);
  test.each([
    ['an unknown status', () => ({ status: 'hibernating' }), 'status'],
    ['no items', () => ({ items: { data: [] } }), 'shape'],
    ['an item without a period', (id: string) => withItem(id, { current_period_end: null }), 'shape'],
    ['two plans', (id: string) => withItems(id, ['price_of_basic', 'price_of_full']), 'price'],
    ['an ad-hoc price', (id: string) => withItems(id, ['price_ad_hoc']), 'price'],
  ])('is acknowledged, put back and counted: %s', async (_shape, changes, reason) => {
    const { token, stripeId } = await subscribe();
    stripe.update(stripeId, changes(stripeId));
    expect((await deliver(updated(stripeId))).status).toBe(200);
    const waiting = await billing.db('deferred_items').where({ work: 'subscriptions', item: stripeId }).first();
    expect(waiting).toMatchObject({ reason, attempts: 1 });
    const metrics = await (await fetch(`${billing.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`billing_work_failures_total\\{[^}]*reason="${reason}"[^}]*\\} [1-9]`));
    expect(await current(token)).toMatchObject({ status: 'active', plan: { id: 'basic' } });
  });

  const withItem = (id: string, changes: object) => ({ items: { data: [Object.assign(item(id), changes)] } });
  const withItems = (id: string, prices: readonly string[], product: unknown = 'prod_of_nobody') => ({
    items: { data: prices.map((price) => Object.assign(item(id), { price: { id: price, product } })) },
  });

  test('is read by the item that is a plan, with members expanded or absent', async () => {
    const { token, stripeId } = await subscribe();
    const items = withItems(stripeId, ['price_of_support', 'price_of_full'], { id: 'prod_x', deleted: true });
    const customer = { id: stripe.object(stripeId)['customer'], object: 'customer' };
    stripe.update(stripeId, { ...items, customer, cancel_at: undefined, ended_at: undefined });
    expect((await deliver(updated(stripeId))).status).toBe(200);
    expect(await current(token)).toMatchObject({ status: 'active', plan: { id: 'full' } });
  });

  test('is read by the plan that the metadata of an ad-hoc price names', async () => {
    const { token, stripeId } = await subscribe();
    const price = { id: 'price_ad_hoc', product: 'prod_other', metadata: { svc_plan_id: 'full' } };
    stripe.update(stripeId, withItem(stripeId, { price }));
    await deliver(updated(stripeId));
    expect(await current(token)).toMatchObject({ plan: { id: 'full' } });
  });

  test.each([
    ['of another product', { id: 'sub_of_another', metadata: null, customer: 'cus_of_another', status: 'odd' }],
    ['without metadata', { id: 'sub_of_nobody', customer: null }],
  ])('is ignored if it belongs to no account: %s', async (_whose, object) => {
    const event = { id: 'evt_x', type: 'customer.subscription.updated', data: { object } };
    expect((await deliver(event)).status).toBe(200);
  });
});

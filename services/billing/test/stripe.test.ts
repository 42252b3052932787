import { newId } from '@svc/contracts';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { OLD_SECRET, stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, stripeSessionOf, pay, deliver, subscribe, factsOf } = people;
afterAll(stop);
beforeEach(reset);

describe('a purchase through Stripe', () => {
  test('goes from hosted checkout to confirmation, with a pinned version and an idempotency key on every write', async () => {
    const { userId, token } = await signIn();
    const started = await checkout(token, 'full');
    expect(started.body.url).toBe(`https://checkout.stripe.test/${stripeSessionOf(started.body.session_id)}`);
    const made = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
    expect(made?.params).toMatchObject({
      ...{ mode: 'subscription', line_items: [{ price: 'price_of_full', quantity: '1' }] },
      success_url: `${RETURNS.success_url}?session_id=${started.body.session_id}`,
      subscription_data: { metadata: { svc_user_id: userId } },
    });
    expect((await confirm(token, started.body.session_id)).body.detail.code).toBe('checkout_not_completed');
    pay(started.body.session_id);
    const confirmed = await confirm(token, started.body.session_id);
    expect(confirmed.body.subscription).toMatchObject({ status: 'active', plan: { id: 'full' }, revision: 1 });
    expect((await confirm(token, started.body.session_id)).body).toEqual(confirmed.body);
    expect(stripe.calls.every(({ version }) => version === '2026-09-30.endive')).toBe(true);
    const writes = stripe.calls.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      ...[`customer-${userId}`, `checkout-${started.body.session_id}`],
    ]);
  });
  test('takes effect by its event, even one that comes before the call that caused it returns', async () => {
    const { token } = await signIn();
    stripe.onSessionMade = async (session) => {
      stripe.pay(String(session['id']), new Date());
      expect((await deliver(stripe.event('checkout.session.completed', String(session['id'])))).status).toBe(200);
    };
    const started = await checkout(token);
    expect(started.status).toBe(200);
    expect(await current(token)).toMatchObject({ status: 'active' });
  });
  test('tops the wallet up once, by confirmation and event', async () => {
    const { token } = await signIn();
    const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
      token,
      json: { amount_micros: 12_340_000, ...RETURNS },
    });
    const made = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
    expect(made?.params).toMatchObject({
      mode: 'payment',
      line_items: [{ price_data: { currency: 'eur', unit_amount: '1234' } }],
    });
    stripe.update(stripeSessionOf(body.session_id), { status: 'complete' });
    expect((await confirm(token, body.session_id)).body.detail.code).toBe('checkout_not_completed');
    pay(body.session_id);
    await deliver(stripe.event('checkout.session.async_payment_succeeded', stripeSessionOf(body.session_id)));
    expect((await confirm(token, body.session_id)).body.wallet.balance_micros).toBe(12_340_000);
  });
  test.each([
    [999_999, 'greater_than_equal'],
    [1_005_000, 'value_error'],
  ])('tops no wallet up by %d micros, which nobody could pay', async (amount_micros, type) => {
    const { token } = await signIn();
    const { status, body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
      token,
      json: { amount_micros, ...RETURNS },
    });
    expect([status, body.detail[0]]).toMatchObject([422, { loc: ['body', 'amount_micros'], type }]);
  });
  test('that loses to another one is refunded and ended', async () => {
    const { token } = await signIn();
    const [one, two] = [(await checkout(token)).body.session_id, (await checkout(token, 'full')).body.session_id];
    pay(one);
    const lost = String(pay(two)['subscription']);
    await confirm(token, one);
    expect((await confirm(token, two)).body.detail.code).toBe('subscription_already_active');
    expect((await confirm(token, two)).body.detail.code).toBe('subscription_already_active');
    expect(stripe.object(lost)['status']).toBe('canceled');
    expect(stripe.list('refund')).toHaveLength(1);
    expect((await deliver(stripe.event('customer.subscription.deleted', lost))).status).toBe(200);
    expect(await current(token)).toMatchObject({ plan: { id: 'basic' }, status: 'active' });
  });
  test('is told clearly when Stripe is down, leaves nothing half-done, and can be begun again', async () => {
    const { token } = await signIn();
    stripe.faults.push(500, 'reset', 503);
    const answer = await checkout(token);
    expect([answer.status, answer.body.detail.code]).toEqual([503, 'payment_provider_unavailable']);
    stripe.faults.push('reset');
    expect((await checkout(token)).status).toBe(200);
  }, 30_000);
  test('opens the portal for whoever bought something', async () => {
    const { token } = await subscribe();
    const portal = await billing.call('POST', '/v1/subscriptions/portal', {
      token,
      json: { return_url: 'https://shop.example/' },
    });
    expect(portal.body.url).toMatch(/^https:\/\/billing\.stripe\.test\//);
  });
});

describe('events', () => {
  test('are refused unsigned, signed otherwise, changed, or too old, and taken under each secret', async () => {
    const { stripeId } = await subscribe();
    const event = stripe.event('customer.subscription.updated', stripeId);
    const body = JSON.stringify(event);
    for (const signature of [
      '',
      't=1,v1=00',
      stripe.sign(body, 'whsec_other'),
      stripe.sign(`${body} `),
      stripe.sign(body, stripe.secret, Date.now() - 301_000),
    ]) {
      const answer = await deliver(event, signature);
      expect([answer.status, answer.body.detail.code]).toEqual([400, 'invalid_signature']);
    }
    expect((await deliver(event, stripe.sign(body, OLD_SECRET))).body).toEqual({ received: true });
  });
  test('duplicated, shuffled and dropped end in the latest state, with one fact per state that was seen', async () => {
    const { userId, token, stripeId } = await subscribe();
    const events = ['past_due', 'active', 'past_due'].map((status) => {
      stripe.update(stripeId, { status });
      return stripe.event('customer.subscription.updated', stripeId);
    });
    for (const event of [...events, ...events].reverse()) await deliver(event);
    expect(await current(token)).toMatchObject({ status: 'past_due', revision: 2 });
    await Promise.all(events.map((event) => deliver(event)));
    stripe.update(stripeId, { status: 'canceled', ended_at: 1_790_000_000 });
    await deliver(stripe.event('customer.subscription.deleted', stripeId));
    expect((await factsOf(userId)).map(({ status, revision }) => [status, revision])).toEqual([
      ...[
        ['active', 1],
        ['past_due', 2],
        ['canceled', 3],
      ],
    ]);
  });
  test('that race cannot set the state back: the fetch that began first is stale, though it ends last', async () => {
    const { token, stripeId } = await subscribe();
    const held = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    stripe.afterRead = async () => {
      stripe.afterRead = async () => undefined;
      reading.resolve();
      await held.promise;
    };
    const first = deliver(stripe.event('customer.subscription.updated', stripeId));
    await reading.promise;
    stripe.update(stripeId, { status: 'past_due' });
    await deliver(stripe.event('customer.subscription.updated', stripeId));
    held.resolve();
    expect((await first).status).toBe(200);
    expect(await current(token)).toMatchObject({ status: 'past_due', revision: 2 });
  });
  test('of invoices lead to their subscription, and a change of price to the plan that has it', async () => {
    const { token, stripeId } = await subscribe();
    const items = JSON.parse(JSON.stringify(stripe.object(stripeId)['items']));
    for (const item of items.data) item.price.id = 'price_of_full';
    stripe.update(stripeId, { items, cancel_at: 1_900_000_000 });
    await deliver(stripe.event('invoice.paid', String(stripe.object(stripeId)['latest_invoice'])));
    expect(await current(token)).toMatchObject({ plan: { id: 'full' }, cancel_at_period_end: true });
  });
  test('that are signed but make no sense are faults of the request, not of ours', async () => {
    const send = async (body: string) => {
      const response = await fetch(`${billing.publicUrl}/v1/payments/stripe/events`, {
        ...{ method: 'POST', body },
        headers: { 'content-type': 'application/json', 'stripe-signature': stripe.sign(body) },
      });
      const { detail } = JSON.parse(await response.text());
      return [response.status, detail?.[0]?.type, detail?.[0]?.loc];
    };
    expect(await send('{')).toEqual([422, 'json_invalid', ['body']]);
    expect(await send('null')).toEqual([422, 'dict_type', ['body']]);
    expect(await send('{"type":"customer.subscription.updated"}')).toEqual([422, 'missing', ['body', 'data']]);
    const about = (object: object) => JSON.stringify({ type: 'checkout.session.completed', data: { object } });
    expect(await send(about({}))).toEqual([422, 'missing', ['body', 'data', 'object', 'id']]);
    expect(await send(about({ id: 'cs_x', client_reference_id: 'cs_\0' }))).toEqual([
      ...[422, 'value_error'],
      ['body', 'data', 'object', 'client_reference_id'],
    ]);
    expect(await send(about({ id: 'cs_x', client_reference_id: 'cs_x' }))).toEqual([200, undefined, undefined]);
  });
  test('about what is not ours, or of another kind, are taken and leave nothing', async () => {
    const { stripeId } = await subscribe();
    stripe.update(stripeId, { metadata: {}, customer: 'cus_of_another_product' });
    expect((await deliver(stripe.event('customer.subscription.updated', stripeId))).body).toEqual({ received: true });
    expect((await deliver(stripe.event('customer.created', stripeId))).body).toEqual({ received: true });
  });
  test('fail while Stripe is down, so that it delivers them again', async () => {
    const { stripeId } = await subscribe();
    stripe.faults.push(500, 500, 500);
    expect((await deliver(stripe.event('customer.subscription.updated', stripeId))).status).toBe(503);
  }, 30_000);
  test('that were never delivered are swept, and a subscription of which nothing is heard is asked for', async () => {
    const [one, two] = [await subscribe(), await subscribe()];
    stripe.update(one.stripeId, { status: 'paused' });
    stripe.undelivered = [stripe.event('customer.subscription.paused', one.stripeId)];
    stripe.update(two.stripeId, { status: 'unpaid' });
    await billing
      .db('subscriptions')
      .where({ provider_subscription_id: two.stripeId })
      .update({
        ...{ current_period_start: '2026-01-01', current_period_end: '2026-02-01', updated_at: '2026-02-01' },
      });
    await billing.app.tickPayments();
    await billing.app.tickPayments();
    expect(await current(one.token)).toMatchObject({ status: 'paused', revision: 2 });
    expect(await current(two.token)).toMatchObject({ status: 'unpaid' });
  });
});

describe('the sandbox beside Stripe', () => {
  test.each([
    ['GET', `/sandbox/payments/sessions/${newId('cs')}`],
    ['POST', `/sandbox/payments/sessions/${newId('cs')}/complete`],
    ['POST', `/sandbox/payments/subscriptions/${newId('sub')}`],
    ['GET', '/sandbox/payments/portal/x'],
    ['POST', `/sandbox/payments/subscriptions/${newId('sub')}/advance`],
    ['PATCH', `/sandbox/payments/subscriptions/${newId('sub')}`],
  ])('does not exist: %s %s', async (method, path) => {
    const answer = await billing.call(method, path);
    expect([answer.status, answer.body.detail.code]).toEqual([404, 'not_found']);
  });
});

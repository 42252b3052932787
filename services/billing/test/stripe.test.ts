import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { OLD_SECRET, RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, stripeSessionOf, pay, deliver, subscribe, factsOf } = people;
afterAll(stop);
beforeEach(reset);

describe('a purchase through Stripe', () => {
  test('runs from hosted checkout to confirmation, with a pinned API version and an idempotency key on every write', async () => {
    const { userId, token } = await signIn();
    const started = await checkout(token, 'full');
    expect(started.body.url).toBe(stripe.object(stripeSessionOf(started.body.session_id))['url']);
    const made = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
    expect(made?.params).toMatchObject({
      mode: 'subscription',
      line_items: [{ price: 'price_of_full', quantity: '1' }],
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
  test('takes effect by its event, even if that arrives before the call that created the session returns', async () => {
    const { token } = await signIn();
    stripe.misbehavior.onSessionMade = async (session) => {
      stripe.pay(String(session['id']), new Date());
      expect((await deliver(stripe.event('checkout.session.completed', String(session['id'])))).status).toBe(200);
    };
    const started = await checkout(token);
    expect(started.status).toBe(200);
    expect(await current(token)).toMatchObject({ status: 'active' });
  });
  test('tops up the wallet once when both confirmation and event arrive', async () => {
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
  ])('returns 422 for a top-up of %d micros, which Stripe cannot charge', async (amount_micros, type) => {
    const { token } = await signIn();
    const { status, body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
      token,
      json: { amount_micros, ...RETURNS },
    });
    expect([status, body.detail[0]]).toMatchObject([422, { loc: ['body', 'amount_micros'], type }]);
  });
  test('is refunded and cancelled if another subscription is already live', async () => {
    const { token } = await signIn();
    const one = (await checkout(token)).body.session_id;
    const two = (await checkout(token, 'full')).body.session_id;
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
  test('returns 503 while Stripe is down, and can be retried', async () => {
    const { token } = await signIn();
    stripe.misbehavior.faults.push(500, 'reset', 503);
    const answer = await checkout(token);
    expect([answer.status, answer.body.detail.code]).toEqual([503, 'payment_provider_unavailable']);
    stripe.misbehavior.faults.push('reset');
    expect((await checkout(token)).status).toBe(200);
  }, 30_000);
  test('opens the portal for customers', async () => {
    const { token } = await subscribe();
    const portal = await billing.call('POST', '/v1/subscriptions/portal', {
      token,
      json: { return_url: 'https://shop.example/' },
    });
    expect(portal.body.url).toMatch(/\/portal\/bps_/);
  });
});

describe('Stripe events', () => {
  test('return 400 if unsigned, wrongly signed, altered or too old, and are accepted with each configured secret', async () => {
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
  test('lead to the latest state, with one fact per observed state, when duplicated, reordered and dropped', async () => {
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
  test('cannot set the state back when they race: the fetch that started first is stale, even if it ends last', async () => {
    const { token, stripeId } = await subscribe();
    const release = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    stripe.misbehavior.afterRead = async () => {
      stripe.misbehavior.afterRead = async () => undefined;
      reading.resolve();
      await release.promise;
    };
    const first = deliver(stripe.event('customer.subscription.updated', stripeId));
    await reading.promise;
    stripe.update(stripeId, { status: 'past_due' });
    await deliver(stripe.event('customer.subscription.updated', stripeId));
    release.resolve();
    expect((await first).status).toBe(200);
    expect(await current(token)).toMatchObject({ status: 'past_due', revision: 2 });
  });
  test('of invoices refresh their subscription, and a changed price changes the plan', async () => {
    const { token, stripeId } = await subscribe();
    const items = JSON.parse(JSON.stringify(stripe.object(stripeId)['items']));
    for (const item of items.data) item.price.id = 'price_of_full';
    stripe.update(stripeId, { items });
    await deliver(stripe.event('invoice.paid', String(stripe.object(stripeId)['latest_invoice'])));
    expect(await current(token)).toMatchObject({ plan: { id: 'full' } });
  });
  test('report an end with the period only if it is scheduled for the end of the present one', async () => {
    const { token, stripeId } = await subscribe();
    const end = Object(stripe.object(stripeId)['items']).data[0].current_period_end;
    for (const [cancel_at, isEnd] of [
      [end + 200 * 86_400, false],
      [end, true],
      [null, false],
      [end - 86_400, true],
    ]) {
      stripe.update(stripeId, { cancel_at });
      await deliver(stripe.event('customer.subscription.updated', stripeId));
      expect(await current(token)).toMatchObject({ cancel_at_period_end: isEnd });
    }
  });
  test('return 422 if signed but malformed', async () => {
    const send = async (body: string) => {
      const response = await fetch(`${billing.publicUrl}/v1/payments/stripe/events`, {
        method: 'POST',
        body,
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
  test('about foreign objects or of other types are acknowledged and ignored', async () => {
    const { stripeId } = await subscribe();
    stripe.update(stripeId, { metadata: {}, customer: 'cus_of_another_product' });
    expect((await deliver(stripe.event('customer.subscription.updated', stripeId))).body).toEqual({ received: true });
    expect((await deliver(stripe.event('customer.created', stripeId))).body).toEqual({ received: true });
  });
  test('return 503 while Stripe is down, so that Stripe redelivers them', async () => {
    const { stripeId } = await subscribe();
    stripe.misbehavior.faults.push(500, 500, 500);
    expect((await deliver(stripe.event('customer.subscription.updated', stripeId))).status).toBe(503);
  }, 30_000);
  test('are swept if they were never delivered, and silent subscriptions are refreshed', async () => {
    const one = await subscribe();
    const two = await subscribe();
    stripe.update(one.stripeId, { status: 'paused' });
    stripe.undelivered = [stripe.event('customer.subscription.paused', one.stripeId)];
    stripe.update(two.stripeId, { status: 'unpaid' });
    await billing.db('subscriptions').where({ provider_subscription_id: two.stripeId }).update({
      current_period_start: '2026-01-01',
      current_period_end: '2026-02-01',
      updated_at: '2026-02-01',
    });
    await billing.tick();
    await billing.tick();
    expect(await current(one.token)).toMatchObject({ status: 'paused', revision: 2 });
    expect(await current(two.token)).toMatchObject({ status: 'unpaid' });
  });
});

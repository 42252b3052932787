import { newId } from '@svc/contracts';
import { afterAll, describe, expect, test } from 'vitest';
import { RETURNS, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const billing = await testBilling();
const { fund, signIn, startTopUp } = gatewayAccounts(billing);
const { stripe, ...atStripe } = await stripeBilling();
afterAll(async () => {
  await billing.stop();
  await atStripe.stop();
});

const PATH = '/v1/subscriptions/invoices';
const AUTO = { enabled: true, below_micros: 100_000_000, amount_micros: 6_100_000, monthly_max_micros: 6_100_000 };
/** Returns the address at which this test reaches a page. */
const atStandIn = (address: string) =>
  address.replace(billing.config.PUBLIC_BASE_URL, billing.environment['STRIPE_API_BASE'] ?? '');
const listOf = async (token: string, query = '') => (await billing.call('GET', `${PATH}${query}`, { token })).body;

describe('invoices of the stand-in for Stripe', () => {
  test('are one for each payment, newest first, with net and tax adding up to what was paid', async () => {
    const { token, userId } = await billing.subscribe('full');
    const { body } = await startTopUp(token, 12_200_000);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    await billing.call('PUT', '/v1/gateway/wallet/auto-top-up', { token, json: AUTO });
    await billing.topUpWallets();
    for (let time = 0; time < 2; time += 1) await billing.tick();
    const { data, has_more } = await listOf(token);
    expect(has_more).toBe(false);
    const shown = data.map((invoice: Record<string, unknown>) => [
      ...[invoice['description'], invoice['net_micros'], invoice['tax_micros'], invoice['total_micros']],
      ...[invoice['currency'], invoice['status']],
    ]);
    expect(shown).toEqual([
      ['Automatic wallet top-up', 5_000_000, 1_100_000, 6_100_000, 'EUR', 'paid'],
      ['Wallet top-up', 10_000_000, 2_200_000, 12_200_000, 'EUR', 'paid'],
      ['Subscription to Full', 16_390_000, 3_610_000, 20_000_000, 'EUR', 'paid'],
    ]);
    const paid = await billing
      .db('checkout_sessions')
      .where({ svc_user_id: userId })
      .sum('asked_micros as total')
      .first();
    const total = data.reduce((sum: number, invoice: { total_micros: number }) => sum + invoice.total_micros, 0);
    expect(total).toBe(Number(paid?.['total']));
    for (const { url, pdf_url } of data) {
      const pdf = await fetch(atStandIn(pdf_url));
      expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
      expect(url).toContain('/sandbox/payments/invoices/in_');
    }
  });

  test('are described, shown and printed in the language of the account', async () => {
    const userId = newId('usr');
    const token = await billing.tokens.consoleSession({ userId, claims: { locale: 'it' } });
    const { body } = await startTopUp(token, 12_200_000);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    const [invoice] = (await listOf(token)).data;
    expect(invoice.description).toBe('Ricarica del portafoglio');
    const open = (address: string) =>
      fetch(atStandIn(address), {
        headers: { 'accept-language': 'en' },
      });
    expect(await (await open(invoice.url)).text()).toContain('<html lang="it"');
    expect(await (await open(invoice.pdf_url)).text()).toContain('/Lang (it)');
  });

  test('are paged, and show nothing of another account', async () => {
    const owner = await fund(1_000_000);
    const { body } = await startTopUp(owner.token, 2_000_000);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    const first = await listOf(owner.token, '?limit=1');
    expect([first.data[0].total_micros, first.has_more]).toEqual([2_000_000, true]);
    const second = await listOf(owner.token, `?limit=1&after=${first.data[0].id}`);
    expect([second.data[0].total_micros, second.has_more]).toEqual([1_000_000, false]);
    expect(await listOf((await signIn()).token)).toEqual({ data: [], has_more: false });
  });
});

describe('invoices of Stripe', () => {
  test('are ordered at the checkout, with automatic tax inside the price and the tax id of a business', async () => {
    const { token } = await atStripe.signIn();
    const json = { amount_micros: 12_340_000, ...RETURNS };
    await atStripe.billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
    await atStripe.checkout(token, 'full');
    const [topUp, subscription] = stripe.calls.filter(({ path }) => path === '/v1/checkout/sessions').slice(-2);
    for (const made of [topUp, subscription]) {
      expect(made?.params).toMatchObject({
        automatic_tax: { enabled: 'true' },
        tax_id_collection: { enabled: 'true' },
        customer_update: { address: 'auto', name: 'auto' },
      });
    }
    expect(topUp?.params).toMatchObject({
      invoice_creation: { enabled: 'true' },
      line_items: [{ price_data: { tax_behavior: 'inclusive', unit_amount: '1234' } }],
    });
  });

  test('are in the language of the account, as are the checkout and the portal', async () => {
    const token = await atStripe.billing.tokens.consoleSession({ userId: newId('usr'), claims: { locale: 'it' } });
    await atStripe.checkout(token, 'full');
    const json = { amount_micros: 12_340_000, ...RETURNS };
    await atStripe.billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
    const [customer, checkout] = [/^\/v1\/customers\/cus_/, /^\/v1\/checkout\/sessions$/].map((pattern) =>
      stripe.calls.findLast(({ method, path }) => method === 'POST' && pattern.test(path)),
    );
    expect(customer?.params).toMatchObject({ preferred_locales: ['it'] });
    expect(checkout?.params).toMatchObject({
      locale: 'it',
      line_items: [{ price_data: { product_data: { name: 'Ricarica del portafoglio' } } }],
    });
  });

  test('are written for an automatic charge once, with its payment attached', async () => {
    const { token } = await atStripe.signIn();
    const { billing: service } = atStripe;
    const json = { amount_micros: 1_000_000, ...RETURNS };
    const { body } = await service.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
    atStripe.pay(body.session_id);
    await atStripe.confirm(token, body.session_id);
    await service.call('PUT', '/v1/gateway/wallet/auto-top-up', { token, json: { ...AUTO, amount_micros: 6_100_000 } });
    await service.topUpWallets();
    // The first attempt is interrupted after the draft.
    stripe.misbehavior.faults.push(500, 500, 500);
    await service.tick().catch(() => undefined);
    stripe.misbehavior.faults.length = 0;
    stripe.forgetKeys();
    for (let time = 0; time < 2; time += 1) await service.tick();
    const { data } = (await service.call('GET', PATH, { token })).body;
    expect(data).toMatchObject([
      {
        description: 'Automatic wallet top-up',
        net_micros: 5_000_000,
        tax_micros: 1_100_000,
        total_micros: 6_100_000,
        currency: 'EUR',
        status: 'paid',
        url: expect.stringContaining(`/invoices/${data[0].id}`),
      },
      { description: 'Wallet top-up' },
    ]);
    const payment = stripe.list('payment_intent').find(({ metadata }) => metadata['svc_charge_id'] !== undefined);
    expect(stripe.object(data[0].id)).toMatchObject({ payment_intent: payment?.['id'] });
  });

  test('of automatic charges, and their payments, are in the language that the account had last', async () => {
    const { billing: service } = atStripe;
    const userId = newId('usr');
    const tokenIn = (locale: 'en' | 'it') => service.tokens.consoleSession({ userId, claims: { locale } });
    const english = await tokenIn('en');
    const italian = await tokenIn('it');
    const json = { amount_micros: 1_000_000, ...RETURNS };
    const { body } = await service.call('POST', '/v1/gateway/wallet/top-ups', { token: english, json });
    atStripe.pay(body.session_id);
    await atStripe.confirm(english, body.session_id);
    await service.call('PUT', '/v1/gateway/wallet/auto-top-up', { token: italian, json: AUTO });
    await service.topUpWallets();
    await service.tick();
    const description = 'Ricarica automatica del portafoglio';
    expect((await service.call('GET', PATH, { token: italian })).body.data[0]).toMatchObject({ description });
    const payments = stripe.list('payment_intent').filter(({ metadata }) => Object(metadata).svc_user_id === userId);
    expect(payments).toMatchObject([{ description }]);
    const item = stripe.calls.findLast(({ path }) => path === '/v1/invoiceitems');
    expect(item?.params).toMatchObject({ description });
  });

  test('are paged past those that have no number yet', async () => {
    const owner = await atStripe.subscribe();
    const { billing: service } = atStripe;
    const { customer } = stripe.object(owner.stripeId);
    const draft = { method: 'POST', path: '/v1/invoices', params: { customer, currency: 'eur' } };
    const call = { ...draft, isAuthorized: true, idempotencyKey: undefined, version: undefined };
    for (let count = 0; count < 3; count += 1) expect((await stripe.answer(call))?.status).toBe(200);
    const first = await service.call('GET', `${PATH}?limit=2`, { token: owner.token });
    expect(first.body).toMatchObject({ data: [{ total_micros: 5_000_000, status: 'paid' }], has_more: false });
    const behind = await service.call('GET', `${PATH}?after=${first.body.data[0].id}`, { token: owner.token });
    expect(behind.body).toEqual({ data: [], has_more: false });
  });

  test('are empty for an account that Stripe does not know, and 503 while Stripe is down', async () => {
    const stranger = await atStripe.signIn();
    const { billing: service } = atStripe;
    expect((await service.call('GET', PATH, { token: stranger.token })).body).toEqual({ data: [], has_more: false });
    const owner = await atStripe.subscribe();
    stripe.misbehavior.faults.push(...Array<'reset'>(3).fill('reset'));
    const { status, body } = await service.call('GET', PATH, { token: owner.token });
    expect([status, body.detail.code]).toEqual([503, 'payment_provider_unavailable']);
    expect((await service.call('GET', `${PATH}?after=${newId('inv')}`, { token: owner.token })).body.data).toEqual([]);
  });
});

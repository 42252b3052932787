import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openJournal } from '../../src/stripe/journal.ts';
import { StripeStandIn } from '../../src/stripe/stripe-stand-in.ts';
import { type TestSandbox, testSandbox } from './support/sandbox.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await testSandbox();
});
afterAll(() => sandbox.stop());

const directory = mkdtempSync(join(tmpdir(), 'svc-stripe-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('keeps the account over a restart, with ids that go on', () => {
  const file = join(directory, 'stripe.jsonl');
  const open = () => new StripeStandIn({ plans: [], publicBaseUrl: 'https://svc.example', journal: openJournal(file) });
  const first = open();
  const kept = first.add('payment_intent', { amount: 5, currency: 'eur', customer: 'cus_1', status: 'succeeded' });
  first.refund(kept, 2);
  first.forget(first.add('payment_method', { type: 'card', customer: 'cus_1' }));
  const second = open();
  expect([second.rest(kept), second.list('payment_method')]).toEqual([3, []]);
  expect(second.add('payment_intent', {})).not.toBe(kept);
});

test('sells and renews a plan at its price after it was taken off the list', async () => {
  const price = { amount_micros: 5_000_000, currency: 'EUR', interval: 'month' } as const;
  const plan = { id: 'old', name: 'Old', description: '', price, services: { chat: true, audio_transcription: false } };
  const plans = [{ ...plan, weekly_limit_micros: 1, monthly_limit_micros: 1 }];
  let nowMs = Date.parse('2026-10-01T12:00:00Z');
  const standIn = new StripeStandIn({ plans, publicBaseUrl: 'https://svc.example', nowMs: () => nowMs });
  const ask = async (path: string, params: Record<string, unknown>) => {
    const call = { method: 'POST', path, params, isAuthorized: true, idempotencyKey: undefined, version: undefined };
    return String((await standIn.answer(call))?.body['id']);
  };
  const customer = await ask('/v1/customers', {});
  const line_items = [{ price: 'price_of_old', quantity: '2' }];
  const session = await ask('/v1/checkout/sessions', { mode: 'subscription', customer, line_items });
  plans.pop();
  standIn.pay(session, new Date(nowMs));
  nowMs = Date.parse('2026-11-01T12:00:00Z');
  await standIn.run();
  expect(standIn.list('invoice').map(({ total }) => total)).toEqual([1_000, 1_000]);
});

describe('a repeated request', () => {
  test('is answered once for its idempotency key, and refused with other parameters', async () => {
    const create = (name: string) => sandbox.stripe.customers.create({ name }, { idempotencyKey: 'customer-1' });
    const first = await create('one');
    expect((await create('one')).id).toBe(first.id);
    await expect(create('two')).rejects.toMatchObject({ type: 'StripeIdempotencyError' });
    sandbox.standIn.forgetKeys();
    expect((await create('one')).id).not.toBe(first.id);
  });
});

describe('events', () => {
  test('that are held wait, and are delivered in any order and repeatedly', async () => {
    const { standIn, merchant } = sandbox;
    standIn.events.isHeld = true;
    try {
      const { customer } = await sandbox.subscribe();
      expect(merchant.historyOf(customer)).toEqual([]);
      const waiting = standIn.events.waiting().toReversed();
      for (const { id } of [...waiting, ...waiting]) await standIn.events.deliver(id);
      const got = merchant.received.slice(-2 * waiting.length).map(({ id }) => id);
      expect(got).toEqual([...waiting, ...waiting].map(({ id }) => id));
      expect(standIn.events.waiting()).toEqual([]);
    } finally {
      standIn.events.isHeld = false;
    }
  });

  test('that the merchant did not accept are listed as undelivered until it does', async () => {
    const { merchant, stripe } = sandbox;
    const undelivered = async () =>
      (await stripe.events.list({ delivery_success: false })).data.map(({ type }) => type);
    merchant.isDown = true;
    await sandbox.subscribe();
    expect(await undelivered()).toContain('checkout.session.completed');
    merchant.isDown = false;
    await sandbox.run();
    expect(await undelivered()).toEqual([]);
  });
});

test('refuses a request without a secret key, for a customer that is gone, and beyond the payment', async () => {
  const { standIn, stripe } = sandbox;
  const stranger = await sandbox.call('GET', '/v1/customers');
  expect(stranger.status).toBe(401);
  const customer = await sandbox.newCustomer();
  standIn.deleteCustomer(customer);
  const portal = stripe.billingPortal.sessions.create({ customer, return_url: 'https://shop.example/' });
  await expect(portal).rejects.toMatchObject({ code: 'resource_missing', param: 'customer' });
  const payment = standIn.add('payment_intent', { amount: 5, currency: 'eur', customer, status: 'succeeded' });
  await expect(stripe.refunds.create({ payment_intent: payment, amount: 6 })).rejects.toMatchObject({
    code: 'amount_too_large',
  });
  await stripe.refunds.create({ payment_intent: payment });
  await expect(stripe.refunds.create({ payment_intent: payment })).rejects.toMatchObject({
    code: 'charge_already_refunded',
  });
});

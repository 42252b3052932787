import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { events, restoreOperations } from '@svc/contracts';
import { testNats } from '@svc/messaging/testing';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, signIn, confirm, pay } = await stripeBilling();
afterAll(stop);
beforeEach(reset);
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SETTINGS = {
  enabled: true,
  below_micros: 5_000_000,
  amount_micros: 10_000_000,
  monthly_max_micros: 10_000_000,
};

/** Creates an account with 1 EUR, a saved card and automatic top-ups. */
const openAccount = async () => {
  const { userId, token } = await signIn();
  const json = { amount_micros: 1_000_000, ...RETURNS };
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
  pay(body.session_id);
  await confirm(token, body.session_id);
  expect((await billing.call('PUT', '/v1/gateway/wallet/auto-top-up', { token, json: SETTINGS })).status).toBe(200);
  const balance = async () => (await billing.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros;
  const isEnabled = async () => (await billing.call('GET', '/v1/gateway/wallet/auto-top-up', { token })).body.enabled;
  const payments = () =>
    stripe.list('payment_intent').filter(({ metadata }) => Object(metadata)['svc_user_id'] === userId);
  return { userId, token, balance, isEnabled, payments };
};
const run = () => billing.topUpWallets();
/** Moves the clock past the time after which an interrupted charge is finished. */
const waitForTheDead = () => billing.setClock(new Date(Date.now() + 60_000));

test('charges the saved card off session, once, with an idempotency key', async () => {
  const { userId, balance, payments } = await openAccount();
  await Promise.all([run(), run(), run()]);
  expect(await balance()).toBe(11_000_000);
  const [payment] = payments();
  expect(payment).toMatchObject({
    amount: 1_000,
    currency: 'eur',
    off_session: 'true',
    confirm: 'true',
    payment_method: expect.stringMatching(/^pm_/),
    customer: expect.stringMatching(/^cus_/),
  });
  const session = await billing.db('checkout_sessions').where({ svc_user_id: userId, is_automatic: true }).first();
  expect(session).toMatchObject({ status: 'complete', provider_session_id: payment?.['id'] });
  const made = stripe.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_intents');
  expect(made.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`charge-${session.id}`]);
});

test('credits a charge once if the process is killed between charge and credit', async () => {
  const { balance, payments } = await openAccount();
  const nats = await testNats();
  const charged = new Promise<void>((resolve) => {
    stripe.misbehavior.onCharged = () => {
      resolve();
      return new Promise(() => undefined);
    };
  });
  const killed = spawn(process.execPath, [MAIN], {
    env: {
      ...billing.environment,
      NATS_URL: nats.urlOf('billing'),
      PORT: '0',
      INTERNAL_PORT: '0',
      LOG_LEVEL: 'silent',
    },
    stdio: 'inherit',
  });
  await charged;
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await nats.stop();
  expect(await balance()).toBe(1_000_000);

  stripe.misbehavior.onCharged = async () => undefined;
  stripe.forgetKeys();
  await waitForTheDead();
  await Promise.all([run(), run()]);
  await run();
  expect(await balance()).toBe(11_000_000);
  expect(payments()).toHaveLength(1);
  await billing.setClock(null);
});

test('cancels a declined payment, turns itself off and publishes that once', async () => {
  const { userId, balance, isEnabled, payments } = await openAccount();
  stripe.misbehavior.charges = 'authentication_required';
  await Promise.all([run(), run()]);
  await run();
  expect(await isEnabled()).toBe(false);
  expect(payments()).toMatchObject([{ status: 'canceled' }]);
  expect(await balance()).toBe(1_000_000);
  const { subject } = events.autoTopUpFailed;
  const facts = await billing.db('outbox').where({ subject }).whereRaw("payload->>'svc_user_id' = ?", [userId]);
  expect(facts).toMatchObject([{ payload: { reason: 'authentication_required', amount_micros: 10_000_000 } }]);
});

test('waits for a payment in progress and makes no second one', async () => {
  const { balance, isEnabled, payments } = await openAccount();
  stripe.misbehavior.charges = 'processing';
  await run();
  await run();
  await waitForTheDead();
  const [payment] = payments();
  stripe.update(String(payment?.['id']), { status: 'succeeded', amount_received: 1_000 });
  await run();
  expect([await balance(), await isEnabled(), payments().length]).toEqual([11_000_000, true, 1]);
  await billing.setClock(null);
});

test('charges nothing while Stripe is down, and charges once when it is back', async () => {
  const { balance, payments } = await openAccount();
  stripe.misbehavior.faults.push(...Array<'reset'>(3).fill('reset'));
  await run().catch(() => undefined);
  expect(await balance()).toBe(1_000_000);
  stripe.misbehavior.faults.length = 0;
  await waitForTheDead();
  await run();
  expect([await balance(), payments().length]).toEqual([11_000_000, 1]);
  await billing.setClock(null);
});

test('credits a charge once that a restored database has forgotten', async () => {
  const { userId, balance, payments } = await openAccount();
  await run();
  const { id } = await billing.db('checkout_sessions').where({ svc_user_id: userId, is_automatic: true }).first();
  await billing.db('auto_top_ups').where({ svc_user_id: userId }).update({ is_enabled: false });
  await billing.db.raw(`SET session_replication_role = replica;
    DELETE FROM ledger_postings WHERE reference = 'auto_top_up:${id}';
    SET session_replication_role = DEFAULT;
    UPDATE wallets SET balance_micros = 1000000 WHERE svc_user_id = '${userId}'`);
  await billing.db('checkout_sessions').where({ id }).delete();
  for (let time = 0; time < 2; time += 1) {
    await billing.internal('POST', restoreOperations.billing.path, { restored_to: '2026-11-01T00:00:00Z' });
  }
  expect([await balance(), payments().length]).toEqual([11_000_000, 1]);
});

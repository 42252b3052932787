import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { plansFileSchema } from '@svc/contracts';
import { type StripeServer, StripeStandIn, startStripeServer } from '@svc/sandbox/stripe';
import { waitFor } from '@svc/testing';
import { inject } from 'vitest';
import { call } from '../../support/api.ts';
import type { Caller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import type { Product } from '../product.ts';
import type { Target } from '../watch.ts';

const MAIN = new URL('../../../../../services/billing/src/main.ts', import.meta.url).pathname;
const WAIT_MS = 60_000;
const POD = 'billing-with-stripe';
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const RETURNS = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };

/** A process of billing whose payment provider is Stripe, beside that of the local stack. */
interface StripeBilling {
  readonly url: string;
  readonly process: ChildProcess;
}

const startStripeBilling = async (
  product: Product,
  stripe: { readonly url: string; readonly secret: string },
): Promise<StripeBilling> => {
  const { base_url, database_urls, nats_urls, processes } = await product.stack();
  const plansFile = join(inject('dataDir'), 'plans-at-stripe.json');
  await writeFile(plansFile, JSON.stringify({ plans: await plansAtStripe() }));
  const port = await freePort();
  const internalPort = await freePort();
  const started = spawn(process.execPath, [MAIN], {
    env: {
      DATABASE_URL: database_urls['billing'],
      NATS_URL: nats_urls?.['billing'],
      PUBLIC_BASE_URL: base_url,
      AUTH_INTERNAL_URL: processes['auth']?.internal_url,
      JWKS_URL: `${base_url}/v1/integrations/oauth/jwks`,
      INTERNAL_API_TOKENS: `operator:${randomBytes(16).toString('hex')}`,
      INTERNAL_API_TOKEN: `billing:${randomBytes(16).toString('hex')}`,
      RECEIPT_KEY_SECRET: await receiptKeySecret(),
      PLANS_FILE: plansFile,
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_of_the_alerts',
      STRIPE_WEBHOOK_SECRET: stripe.secret,
      STRIPE_API_BASE: stripe.url,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      LOG_LEVEL: 'silent',
    },
    stdio: 'inherit',
  });
  const internal = `http://127.0.0.1:${internalPort}`;
  const isReady = () =>
    fetch(`${internal}/readyz`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    );
  await waitFor(isReady, { timeoutMs: WAIT_MS });
  product.watch.addTarget({ job: 'billing', pod: POD, url: internal });
  return { url: `http://127.0.0.1:${port}`, process: started };
};

/** The key that the stack's own process of billing has. The database refuses another one. */
const receiptKeySecret = async (): Promise<string> =>
  JSON.parse(await readFile(join(inject('dataDir'), 'secrets.json'), 'utf8')).RECEIPT_KEY_SECRET;

/** Returns the offered plans, each with its price at Stripe. */
const plansAtStripe = async () => {
  const { body } = await call('GET', '/v1/subscriptions/plans');
  const offered: readonly { id: string }[] = JSON.parse(JSON.stringify(body.data));
  const plans = offered.map((plan) => ({ ...plan, stripe_price_id: `price_of_${plan.id}` }));
  return plansFileSchema.parse({ plans }).plans;
};

const stopStripeBilling = async (product: Product, { process: running }: StripeBilling): Promise<void> => {
  product.watch.removeTarget(POD);
  const exited = once(running, 'exit');
  running.kill('SIGTERM');
  await exited;
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const post = async ({ url }: StripeBilling, path: string, { token }: Caller, json: object) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(json) });
};
const topUp = (billing: StripeBilling, caller: Caller) =>
  post(billing, '/v1/gateway/wallet/top-ups', caller, { amount_micros: 5_000_000, ...RETURNS });

/** A provider that does not answer, while people try to buy. */
export const paymentProviderThatIsGone = (caller: Caller): Condition => {
  let billing: StripeBilling | undefined;
  let own: Target | undefined;
  return {
    alerts: ['PaymentProviderUnreachable'],
    async begin(product) {
      // The stack's own process of billing reaches its provider all the time.
      const { processes } = await product.stack();
      own = { job: 'billing', pod: 'billing-1', url: processes['billing']?.internal_url ?? '' };
      product.watch.removeTarget(own.pod);
      billing = await startStripeBilling(product, { url: NOWHERE, secret: 'whsec_unused' });
    },
    async eachMinute() {
      if (billing !== undefined) await topUp(billing, caller);
    },
    async end(product) {
      if (own !== undefined) product.watch.addTarget(own);
      if (billing !== undefined) await stopStripeBilling(product, billing);
    },
  };
};

/** A payment of which the provider tells nothing. */
export const paymentWithoutEvents = (caller: Caller): Condition => {
  let stripe: StripeStandIn | undefined;
  let server: StripeServer | undefined;
  let billing: StripeBilling | undefined;
  return {
    alerts: ['PaymentEventsMissing'],
    async begin(product) {
      stripe = new StripeStandIn({ plans: await plansAtStripe(), publicBaseUrl: 'https://pay.example' });
      server = await startStripeServer(stripe);
      billing = await startStripeBilling(product, { url: server.url, secret: stripe.secret });
    },
    async eachMinute(_product, minute) {
      if (minute !== 1 || billing === undefined || stripe === undefined) return;
      const started = await topUp(billing, caller);
      const text = await started.text();
      if (!started.ok) throw new Error(`could not start a top-up: ${started.status} ${text}`);
      const { session_id } = JSON.parse(text);
      const hosted = stripe.list('checkout.session').find((each) => each.client_reference_id === session_id);
      stripe.pay(String(hosted?.id), new Date());
      await post(billing, '/v1/subscriptions/checkout/confirm', caller, { session_id });
    },
    async end(product) {
      if (billing !== undefined) await stopStripeBilling(product, billing);
      await server?.stop();
    },
  };
};

/** An item that has failed again and again. */
export const itemThatKeepsFailing: Condition = {
  alerts: ['PaymentWorkFailing'],
  async begin(product) {
    const failing = "INSERT INTO deferred_items VALUES ('refunds', 'none', 5, 'refused', now() + interval '1 day')";
    await product.sql('billing', failing);
    const measured = () => product.watch.read('billing', 'billing_deferred_items');
    await waitFor(async () => (await measured()) > 0 || undefined, { timeoutMs: WAIT_MS });
  },
  async end(product) {
    await product.sql('billing', "DELETE FROM deferred_items WHERE item = 'none'");
  },
};

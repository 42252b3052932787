import { type ConfiguredPlan, newId, stripePriceOf } from '@svc/contracts';
import { Stripe } from 'stripe';
import { StripeStandIn, startStripeServer } from '../../../src/stripe/index.ts';
import { Merchant } from './merchant.ts';

const plan = (id: string, name: string, amountMicros: number, interval: 'month' | 'year'): ConfiguredPlan => ({
  id,
  name,
  description: name,
  price: { amount_micros: amountMicros, currency: 'EUR', interval },
  services: { chat: true, audio_transcription: id === 'full' },
  weekly_limit_micros: 1_000_000,
  monthly_limit_micros: 3_000_000,
});

const PLANS = [
  plan('basic', 'Basic', 5_000_000, 'month'),
  plan('full', 'Full', 20_000_000, 'month'),
  plan('yearly', 'Yearly', 200_000_000, 'year'),
];

export const RETURNS = { successUrl: 'http://127.0.0.1:9/done?a=1#x', cancelUrl: 'https://shop.example/back?b=%20' };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON. Tests know its shape. */
  readonly body: ReturnType<typeof JSON.parse>;
}

interface Sent {
  readonly json?: unknown;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

export interface StartedCheckout {
  readonly customer: string;
  readonly id: string;
  /** Path of the page. */
  readonly path: string;
}

/** The stand-in on a real socket, with Stripe's own library and a merchant that receives events. */
export type TestSandbox = Awaited<ReturnType<typeof testSandbox>>;

export const testSandbox = async (secretKey = 'sk_test_of_the_tests') => {
  const clock: { at: number | null } = { at: null };
  const standIn: StripeStandIn = new StripeStandIn({
    plans: PLANS,
    publicBaseUrl: 'https://svc.example',
    nowMs: () => clock.at ?? Date.now(),
    send: (body, signature) => merchant.receive(body, signature),
  });
  const server = await startStripeServer(standIn);
  const { hostname, port } = new URL(server.url);
  const stripe = new Stripe(secretKey, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
  const merchant = new Merchant(stripe, standIn.secret);
  const call = (method: string, path: string, sent: Sent = {}) => send(`${server.url}${path}`, method, sent);
  const newCustomer = async () => (await stripe.customers.create({ metadata: { svc_user_id: newId('usr') } })).id;
  const startCheckout = async (
    order: { planId?: string; customer?: string; successUrl?: string; quantity?: number } = {},
  ): Promise<StartedCheckout> => {
    const { planId = 'basic', customer = await newCustomer(), successUrl = RETURNS.successUrl, quantity = 1 } = order;
    const bought = PLANS.find(({ id }) => id === planId);
    if (bought === undefined) throw new Error(`no plan ${planId}`);
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: stripePriceOf(bought), quantity }],
      client_reference_id: newId('cs'),
      success_url: successUrl,
      cancel_url: RETURNS.cancelUrl,
      subscription_data: { metadata: { svc_subscription_id: newId('sub') } },
    });
    return { customer, id: session.id, path: new URL(session.url ?? '').pathname };
  };
  return {
    url: server.url,
    standIn,
    stripe,
    merchant,
    call,
    newCustomer,
    startCheckout,
    /** Submits the form of a page. */
    submit: (path: string, action: string, fields: Record<string, string> = {}) =>
      call('POST', `${path}/submit`, { form: { action, ...fields } }),
    /** Buys a plan. Returns the merchant's id of the subscription. */
    async subscribe() {
      const { customer, path } = await startCheckout();
      await call('POST', `${path}/complete`);
      const [subscription] = (await stripe.subscriptions.list({ customer })).data;
      return { customer, id: subscription?.metadata['svc_subscription_id'] ?? '' };
    },
    /** Opens the portal and returns its path. */
    async openPortal(customer: string) {
      const { url } = await stripe.billingPortal.sessions.create({ customer, return_url: RETURNS.cancelUrl });
      return new URL(url).pathname;
    },
    /** Returns the newest subscription of a customer. */
    async current(customer: string) {
      const [newest] = (await stripe.subscriptions.list({ customer, status: 'all' })).data;
      return newest;
    },
    run: () => standIn.run(),
    /** Stops the clock at a time; null lets it run. */
    setClock: (at: string | Date | null) => {
      clock.at = at === null ? null : new Date(at).getTime();
    },
    stop: () => server.stop(),
  };
};

const send = async (url: string, method: string, { json, form, headers }: Sent): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: form === undefined ? (json === undefined ? null : JSON.stringify(json)) : new URLSearchParams(form),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
};

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type ConfiguredPlan, newId, routesOf } from '@svc/contracts';
import { createLogger, createMetrics, createServiceApp } from '@svc/service-kit';
import { testDatabase } from '@svc/testing';
import type { Knex } from 'knex';
import { runSandboxPayments, sandboxPaymentRoutes } from '../../src/index.ts';
import { Host } from './host.ts';

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

/** The sandbox on a real socket and a real database, with a host that stands for billing. */
export interface TestSandbox {
  readonly db: Knex;
  readonly host: Host;
  /** Sends a request. Redirects are not followed. */
  readonly call: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** Submits the form of a page. */
  readonly submit: (path: string, action: string, fields?: Record<string, string>) => Promise<Answer>;
  readonly startCheckout: (order?: {
    planId?: string;
    customer?: string;
    successUrl?: string;
  }) => Promise<StartedCheckout>;
  /** Buys a plan. Returns the host's id of the subscription. */
  readonly subscribe: () => Promise<{ readonly customer: string; readonly id: string }>;
  /** Opens the portal and returns its path. */
  readonly openPortal: (customer: string) => Promise<string>;
  /** Runs the periodic work once. */
  readonly run: () => Promise<void>;
  /** Stops the clock at a time; null lets it run. */
  readonly setClock: (at: string | Date | null) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const testSandbox = async (): Promise<TestSandbox> => {
  const database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
  const db = database.knex;
  await useTestClock(db);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port.
  const publicBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host = new Host({ database: db, publicBaseUrl, newId });
  const offer = { plans: PLANS, find: (id: string) => PLANS.find((one) => one.id === id) };
  const deps = { database: db, listener: host, newId, offer, findProviderId: host.findProviderId };
  server.on(
    'request',
    createServiceApp({
      service: 'billing',
      bindings: sandboxPaymentRoutes(deps),
      contract: routesOf('billing').filter(({ path }) => path.startsWith('/sandbox/payments/')),
      authenticate: {},
      logger: createLogger({ service: 'billing', level: 'silent' }),
      metrics: createMetrics('billing'),
      responseValidation: true,
    }),
  );
  const call: TestSandbox['call'] = (method, path, sent = {}) => send(`${publicBaseUrl}${path}`, method, sent);
  const startCheckout: TestSandbox['startCheckout'] = async (order = {}) => {
    const { planId = 'basic', customer = newId('usr'), successUrl = RETURNS.successUrl } = order;
    const bought = offer.find(planId);
    if (bought === undefined) throw new Error(`no plan ${planId}`);
    const { url, providerSessionId } = await host.provider.createCheckout({
      sessionId: newId('cs'),
      userId: customer,
      purchase: { kind: 'subscription', plan: bought },
      successUrl,
      cancelUrl: RETURNS.cancelUrl,
      expiresAt: new Date('2100-01-01'),
    });
    return { customer, id: providerSessionId, path: new URL(url).pathname };
  };
  return {
    db,
    host,
    call,
    submit: (path, action, fields = {}) => call('POST', `${path}/submit`, { form: { action, ...fields } }),
    startCheckout,
    async subscribe() {
      const { customer, path } = await startCheckout();
      await call('POST', `${path}/complete`);
      const id = host.current(customer)?.id;
      if (id === undefined) throw new Error('the checkout started no subscription');
      return { customer, id };
    },
    async openPortal(customer) {
      const { url } = await host.provider.createPortal({ userId: customer, returnUrl: RETURNS.cancelUrl });
      return new URL(url).pathname;
    },
    run: () => runSandboxPayments(deps),
    setClock: async (at) => {
      await db('test_clock').update({ at: at === null ? null : new Date(at) });
    },
    async stop() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await database.drop();
    },
  };
};

/** Replaces the sandbox's clock by one that runs until a test stops it. */
const useTestClock = async (db: Knex): Promise<void> => {
  await db.raw(`
    CREATE TABLE test_clock (at timestamptz);
    INSERT INTO test_clock VALUES (NULL);
    CREATE OR REPLACE FUNCTION sandbox_payments.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT coalesce(at, clock_timestamp()) FROM public.test_clock
    $$;
  `);
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

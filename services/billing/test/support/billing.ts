import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { idPattern, newId, plansFileSchema, STRIPE_SANDBOX } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { type StripeServer, StripeStandIn, sendOverHttp, startStripeServer } from '@svc/sandbox/stripe';
import { createLogger, createMetrics, createTokenAuthenticators, listen, loadConfig } from '@svc/service-kit';
import {
  internalCredential,
  internalCredentialFor,
  internalCredentials,
  type TestTokens,
  testTokens,
} from '@svc/testing';
import type { Knex } from 'knex';
import { parse } from 'yaml';
import { type App, createApp } from '../../src/app.ts';
import { type Config, configSchema, planRulesOf } from '../../src/config.ts';
import type { RecallLeases } from '../../src/leases/index.ts';
import { loadPlans, openPlanOffer } from '../../src/plans.ts';
import { keepRequestPartitions } from '../../src/reservations/keep-request-partitions.ts';
import { TestAuth } from './test-auth.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
const EVENTS_PATH = '/v1/payments/stripe/events';
/** A rotated signing secret that is still accepted. */
export const OLD_SECRET = 'whsec_of_yesterday';
const PLANS = fileURLToPath(new URL('./plans.yaml', import.meta.url));

/** A response with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON; undefined for other content types. Tests know its shape. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface Sent {
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

/** The service on real sockets and a real database, with HTTP helpers. */
export interface TestBilling {
  readonly app: App;
  readonly config: Config;
  readonly environment: Readonly<Record<string, string>>;
  readonly db: Knex;
  readonly tokens: TestTokens;
  readonly publicUrl: string;
  readonly internalUrl: string;
  readonly stripe: StripeStandIn;
  /** Calls a public route, or one of the stand-in for Stripe. Redirects are not followed. */
  readonly call: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** Calls an internal route with the credential of an allowed caller. */
  readonly internal: (method: string, path: string, json?: unknown) => Promise<Answer>;
  /** Admits or refuses one request. Returns its decision, or the error. */
  readonly decide: (request: object) => Promise<Answer>;
  /** Monotonic clock of the process, moved only by tests. */
  readonly monotonic: { ms: number };
  /** Lets Stripe do what is due, then runs all periodic work on payments once, but for automatic charges. */
  readonly tick: () => Promise<void>;
  /** Finishes open automatic charges and makes those that are due. */
  readonly topUpWallets: () => Promise<void>;
  /** Stops the clocks of the database and of Stripe at the given time; null lets them run. */
  readonly setClock: (at: string | Date | null) => Promise<void>;
  /** Creates an account that buys a subscription through the checkout. */
  readonly subscribe: (
    planId?: string,
    userId?: string,
  ) => Promise<{ userId: string; token: string; subscriptionId: string }>;
  readonly admit: (userId: string, more?: Record<string, unknown>) => Promise<{ requestId: string; answer: Answer }>;
  /** Reports the outcome of a delegated request. Returns its state. */
  readonly settle: (requestId: string, result: object) => Promise<string | null>;
  /** Members and names that auth knows. */
  readonly auth: TestAuth;
  /** Answers recalls in place of gateway processes. Default: rejects, as a process that is gone. */
  recallLeases: RecallLeases;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the service for one test file, with a stand-in for Stripe that delivers its events. With PAYMENTS=stripe the test
 * delivers them.
 */
export const testBilling = async (settings: Record<string, string> = {}): Promise<TestBilling> => {
  const database: TestDatabase = await testDatabase({ migrations: MIGRATIONS });
  const db = database.knex;
  await useTestClock(db);
  const tokens = await testTokens();
  const clock: { at: number | null } = { at: null };
  const isSandbox = settings['PAYMENTS'] !== 'stripe';
  const stripe = new StripeStandIn({
    plans: parsePlans(settings['PLANS_FILE'] ?? PLANS),
    publicBaseUrl: tokens.publicBaseUrl,
    nowMs: () => clock.at ?? Date.now(),
    ...(isSandbox
      ? { secret: STRIPE_SANDBOX.webhookSecret, send: sendOverHttp(() => `${publicServer.url}${EVENTS_PATH}`) }
      : {}),
  });
  const stripeServer: StripeServer = await startStripeServer(stripe);
  const environment: Record<string, string> = {
    DATABASE_URL: database.url,
    NATS_URL: 'nats://127.0.0.1:4222',
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    AUTH_INTERNAL_URL: 'http://127.0.0.1:1',
    INTERNAL_API_TOKENS: internalCredentials,
    INTERNAL_API_TOKEN: internalCredential('billing'),
    PLANS_FILE: PLANS,
    RECEIPT_KEY_SECRET: Buffer.alloc(32, 7).toString('base64'),
    RESPONSE_VALIDATION: 'true',
    STRIPE_API_BASE: stripeServer.url,
    SANDBOX_PAYMENTS_URL: stripeServer.url,
    ...(isSandbox ? {} : { STRIPE_SECRET_KEY: 'sk_test', STRIPE_WEBHOOK_SECRET: `${stripe.secret},${OLD_SECRET}` }),
    ...settings,
  };
  const config = loadConfig(configSchema, environment);
  const offer = await openPlanOffer(db, loadPlans(config.PLANS_FILE ?? PLANS, planRulesOf(config)));
  const monotonic = { ms: 0 };
  await keepRequestPartitions(db, { nowMs: Date.now(), daysKept: config.REQUEST_RETENTION_DAYS });
  const auth = new TestAuth();
  const app = await createApp({
    auth,
    recallLeases: (holder) => billing.recallLeases(holder),
    monotonicMs: () => monotonic.ms,
    config,
    database: db,
    offer,
    relay: { hint: () => undefined },
    operatorBindings: [],
    readAgain: async () => 0,
    logger: createLogger({ service: 'billing', level: 'silent' }),
    metrics: createMetrics('billing'),
    authenticate: createTokenAuthenticators({
      publicBaseUrl: tokens.publicBaseUrl,
      jwksUrl: tokens.jwksUrl,
      revocations: { refreshIfStale: () => undefined, isRevoked: () => false },
      auth: { call: () => Promise.reject(new Error('unused')) },
    }),
  });
  const publicServer = await serve(app.publicApp);
  const internalServer = await listen(app.internalApp, { host: '127.0.0.1', port: 0 });
  const call: TestBilling['call'] = (method, path, sent = {}) =>
    send(`${path.startsWith('/sandbox/') ? stripeServer.url : publicServer.url}${path}`, method, sent);
  const internal: TestBilling['internal'] = (method, path, json) =>
    send(`${internalServer.url}${path}`, method, { token: internalCredentialFor(method, path), json });
  const decide: TestBilling['decide'] = async (request) => {
    for (;;) {
      const answer = await internal('POST', '/internal/admission-batches', { requests: [request] });
      const [decision] = answer.body.decisions ?? [answer.body];
      // The account is locked. A gateway asks again too.
      if (decision !== null) return { ...answer, body: decision };
    }
  };
  const billing: TestBilling = {
    recallLeases: () => Promise.reject(new Error('the gateway process is gone')),
    app,
    config,
    environment,
    db,
    monotonic,
    auth,
    tokens,
    publicUrl: publicServer.url,
    internalUrl: internalServer.url,
    stripe,
    call,
    internal,
    tick: async () => {
      if (isSandbox) await stripe.run();
      await runJobs(app, (name) => !CHARGES.has(name));
    },
    topUpWallets: () => runJobs(app, (name) => CHARGES.has(name)),
    decide,
    setClock: async (at) => {
      clock.at = at === null ? null : new Date(at).getTime();
      await db('test_clock').update({ at: at === null ? null : new Date(at) });
    },
    subscribe: (planId = 'basic', userId = newId('usr')) => subscribe({ call, tokens }, planId, userId),
    async admit(userId, more = {}) {
      const body = delegatedRequest(userId, more);
      return { requestId: body.request_id, answer: await decide(body) };
    },
    async settle(requestId, result) {
      const settlements = [{ request_id: requestId, svc_user_id: ANYBODY, result }];
      return (await internal('POST', '/internal/settlements', { settlements })).body.results[0].state;
    },
    async stop() {
      await stripeServer.stop();
      await Promise.all([publicServer.close(), internalServer.drain(0), tokens.stop()]);
      await database.drop();
    },
  };
  return billing;
};

const parsePlans = (file: string) => plansFileSchema.parse(parse(readFileSync(file, 'utf8'))).plans;

/** The account of a delegated settlement, which its reservation names too. */
const ANYBODY = newId('usr');

const CHARGES: ReadonlySet<string> = new Set(['automatic_charges', 'automatic_top_ups']);

const runJobs = async ({ paymentJobs }: App, isChosen: (name: string) => boolean): Promise<void> => {
  for (const { run } of paymentJobs.filter(({ name }) => isChosen(name))) await run();
};

/** Returns a delegated admission request. `more` replaces any field. */
export const delegatedRequest = (userId: string, more: Record<string, unknown> = {}) => ({
  request_id: newId('req'),
  svc_user_id: userId,
  client_id: APP,
  service: 'chat',
  estimate_micros: 100,
  ...more,
});

/** Default app of delegated requests. */
export const APP = newId('app');

/** Return URLs of a purchase. */
export const RETURNS = { success_url: 'https://shop.example/done', cancel_url: 'https://shop.example/back' };

/** Pattern of a checkout session's id. */
export const SESSION_ID = idPattern('cs');

/** Replaces the clock of billing with one that runs until a test stops it. */
const useTestClock = async (db: Knex): Promise<void> => {
  await db.raw(`
    CREATE TABLE test_clock (at timestamptz);
    INSERT INTO test_clock VALUES (NULL);
    CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT coalesce(at, clock_timestamp()) FROM test_clock
    $$;
  `);
};

const subscribe = async (
  { call, tokens }: Pick<TestBilling, 'call' | 'tokens'>,
  planId: string,
  userId: string,
): Promise<{ userId: string; token: string; subscriptionId: string }> => {
  const token = await tokens.consoleSession({ userId });
  const checkout = await call('POST', '/v1/subscriptions/checkout', { token, json: { plan_id: planId, ...RETURNS } });
  const id = checkout.body.session_id;
  await call('POST', `/sandbox/payments/sessions/${id}/complete`);
  const confirmed = await call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id: id } });
  if (confirmed.status !== 200) throw new Error(`could not subscribe: ${confirmed.text}`);
  return { userId, token, subscriptionId: confirmed.body.subscription.id };
};

const serve = async (app: RequestListener): Promise<{ url: string; close: () => Promise<void> }> => {
  const server = await new Promise<Server>((resolve) => {
    const listening = createServer(app).listen(0, '127.0.0.1', () => resolve(listening));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const send = async (url: string, method: string, { token, json, form, headers }: Sent): Promise<Answer> => {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    body: json === undefined ? (form === undefined ? null : new URLSearchParams(form)) : JSON.stringify(json),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
};

import { createServer, type RequestListener, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { idPattern, newId } from '@svc/contracts';
import { createLogger, createMetrics, createTokenAuthenticators, listen, loadConfig } from '@svc/service-kit';
import {
  internalCredentialFor,
  internalCredentials,
  type TestDatabase,
  type TestTokens,
  testDatabase,
  testTokens,
} from '@svc/testing';
import type { Knex } from 'knex';
import { type App, createApp } from '../../src/app.ts';
import { type Config, configSchema, planRulesOf } from '../../src/config.ts';
import { loadPlans, openPlanOffer } from '../../src/plans/index.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
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
  /** Calls a public route. Redirects are not followed. */
  readonly call: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** Calls an internal route with the credential of an allowed caller. */
  readonly internal: (method: string, path: string, json?: unknown) => Promise<Answer>;
  /** Monotonic clock of the process, moved only by tests. */
  readonly monotonic: { ms: number };
  /** Stops the database's clock at the given time. */
  readonly setClock: (at: string | Date) => Promise<void>;
  /** Creates an account that buys a subscription through the checkout. */
  readonly subscribe: (
    planId?: string,
    userId?: string,
  ) => Promise<{ userId: string; token: string; subscriptionId: string }>;
  readonly admit: (userId: string, more?: Record<string, unknown>) => Promise<{ requestId: string; answer: Answer }>;
  readonly settle: (requestId: string, result: object) => Promise<string | null>;
  readonly stop: () => Promise<void>;
}

/** Starts the service for one test file. */
export const testBilling = async (settings: Record<string, string> = {}): Promise<TestBilling> => {
  const database: TestDatabase = await testDatabase({ migrations: MIGRATIONS });
  const db = database.knex;
  await useTestClock(db);
  const tokens = await testTokens();
  const environment: Record<string, string> = {
    DATABASE_URL: database.url,
    NATS_URL: 'nats://127.0.0.1:4222',
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    AUTH_INTERNAL_URL: 'http://127.0.0.1:1',
    INTERNAL_API_TOKENS: internalCredentials,
    PLANS_FILE: PLANS,
    RECEIPT_KEY_SECRET: Buffer.alloc(32, 7).toString('base64'),
    RESPONSE_VALIDATION: 'true',
    ...settings,
  };
  const config = loadConfig(configSchema, environment);
  const offer = await openPlanOffer(db, loadPlans(config.PLANS_FILE ?? PLANS, planRulesOf(config)));
  const monotonic = { ms: 0 };
  const app = await createApp({
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
      revocations: { isRevoked: () => false },
    }),
  });
  const publicServer = await serve(app.publicApp);
  const internalServer = await listen(app.internalApp, { host: '127.0.0.1', port: 0 });
  const call: TestBilling['call'] = (method, path, sent = {}) => send(`${publicServer.url}${path}`, method, sent);
  const internal: TestBilling['internal'] = (method, path, json) =>
    send(`${internalServer.url}${path}`, method, { token: internalCredentialFor(method, path), json });
  return {
    app,
    config,
    environment,
    db,
    monotonic,
    tokens,
    publicUrl: publicServer.url,
    internalUrl: internalServer.url,
    call,
    internal,
    setClock: async (at) => {
      await db('test_clock').update({ at: new Date(at) });
    },
    subscribe: (planId = 'basic', userId = newId('usr')) => subscribe({ call, tokens }, planId, userId),
    async admit(userId, more = {}) {
      const body = delegatedRequest(userId, more);
      return { requestId: body.request_id, answer: await internal('POST', '/internal/admissions', body) };
    },
    async settle(requestId, result) {
      const settlements = [{ request_id: requestId, result }];
      return (await internal('POST', '/internal/settlements', { settlements })).body.results[0].state;
    },
    async stop() {
      await Promise.all([publicServer.close(), internalServer.drain(0), tokens.stop()]);
      await database.drop();
    },
  };
};

/** Returns a delegated admission request. `more` replaces any field. */
export const delegatedRequest = (userId: string, more: Record<string, unknown> = {}) => ({
  kind: 'delegated',
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

/** Replaces the clocks of billing and the sandbox with one that runs until a test stops it. */
const useTestClock = async (db: Knex): Promise<void> => {
  await db.raw(`
    CREATE TABLE test_clock (at timestamptz);
    INSERT INTO test_clock VALUES (NULL);
    CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT coalesce(at, clock_timestamp()) FROM test_clock
    $$;
    CREATE OR REPLACE FUNCTION sandbox_payments.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT public.billing_now()
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

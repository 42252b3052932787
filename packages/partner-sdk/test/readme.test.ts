import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { createMemoryTokenStore, createSvcClient, createUserTokens, SvcError } from '@svc/partner-sdk';
import { createMemoryWebhookStore, createWebhookReceiver, webhookTablesSql } from '@svc/partner-sdk/server';
import express from 'express';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ConnectionEndedError, type ConnectSession, createConnector, OutcomeUnknownError } from '../src/index.ts';
import { openApp } from './samples/browser.ts';
import { describeBudget } from './samples/budget.ts';
import { ask } from './samples/chat.ts';
import { connectRoutes } from './samples/connect.ts';
import { callWithCare } from './samples/errors.ts';
import { connector as sampleConnector, userTokens as sampleTokens } from './samples/setup.ts';
import { tell } from './samples/stream.ts';
import { transcribe } from './samples/transcribe.ts';
import { startApp } from './samples/webhooks.ts';
import { createApp as createFastifyApp } from './samples/webhooks-fastify.ts';
import { CLIENT_ID, deliveryOf, SECRET, snapshot, testEvent, USER_ID } from './support/deliveries.ts';
import { listen } from './support/listen.ts';
import { CLIENT_SECRET, startStandInEvents } from './support/stand-in-events.ts';
import { startStandInOAuth } from './support/stand-in-oauth.ts';
import {
  chunk,
  completion,
  event,
  failure,
  json,
  type StandInService,
  startStandInService,
  stream,
} from './support/stand-in-service.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const samples = new URL('samples/', import.meta.url);

describe('README.md', () => {
  test.each(readdirSync(samples))('shows the tested text of %s', (name) => {
    expect(readme).toContain(`\`\`\`ts\n${readFileSync(new URL(name, samples), 'utf8')}\`\`\``);
  });
});

describe('the samples', () => {
  let service: StandInService;
  let database: TestDatabase;
  const client = () => createSvcClient({ baseUrl: service.url, tokens: async () => 'token' });

  beforeAll(async () => {
    service = await startStandInService();
    database = await testDatabase();
    await database.knex.raw(webhookTablesSql);
    await database.knex.raw('CREATE TABLE svc_subscriptions (svc_user_id text PRIMARY KEY, status text NOT NULL)');
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  test('connect: identifies the user after the browser has returned', async () => {
    const oauth = await startStandInOAuth();
    const { url: issuer, clientId, clientSecret } = oauth;
    const connector = createConnector({
      issuer,
      clientId,
      clientSecret,
      redirectUri: 'https://partner.example/callback',
    });
    const userTokens = createUserTokens({ connector, store: createMemoryTokenStore() });
    const session: { connect?: ConnectSession | undefined } = {};
    const saved: string[] = [];
    const routes = connectRoutes({
      connector,
      userTokens,
      sessionOf: () => session,
      saveSvcUserId: async (_request, svcUserId) => void saved.push(svcUserId),
    });
    const partner = await listen(express().use(routes));
    const get = (path: string) => fetch(partner.url + path, { redirect: 'manual' });

    const sent = await get('/connect');
    const back = new URL(oauth.decide(sent.headers.get('location') ?? '', true));
    expect((await get(back.pathname + back.search)).status).toBe(302);
    expect(saved).toEqual([oauth.svcUserId]);
    // The flow can be finished only once.
    expect((await get(back.pathname + back.search)).status).toBe(400);

    service.answerNext(json(200, completion('Bello.')));
    expect(await ask(service.url, userTokens, oauth.svcUserId)).toBe('Bello.');
    await Promise.all([partner.stop(), oauth.stop()]);
  });

  test('setup: sends no request', async () => {
    expect(sampleConnector.begin).toBeTypeOf('function');
    await expect(sampleTokens.accessToken(USER_ID)).rejects.toBeInstanceOf(ConnectionEndedError);
  });

  test('browser: opens a page without a connected user', async () => {
    const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
    vi.stubGlobal('location', { href: 'https://partner.example/app', assign: () => undefined });
    vi.stubGlobal('sessionStorage', storage);
    expect(await openApp('https://svc.example', 'app_1')).toBeUndefined();
    vi.unstubAllGlobals();
  });

  test('stream and transcribe', async () => {
    service.answerNext(stream(event(chunk('C’era ')), event(chunk('una volta')), event('[DONE]')));
    let told = '';
    const write = (text: string): void => {
      told += text;
    };
    await tell(client(), write, AbortSignal.timeout(5_000));
    expect(told).toBe('C’era una volta');
    service.answerNext(json(200, { text: 'Ciao' }));
    expect(await transcribe(client(), fileURLToPath(import.meta.url))).toBe('Ciao');
    expect(service.last().body.toString()).toContain('filename="readme.test.ts"');
  });

  test('errors: repeats only retryable calls', async () => {
    service.answerNext(
      failure(429, 'subscription_requests_pending', {}, { 'retry-after': '0' }),
      json(200, completion('')),
    );
    const chat = () => client().chat({ messages: [{ role: 'user', content: 'Ciao' }] });
    expect(await callWithCare(chat)).toBeUndefined();
    service.answerNext(failure(504, 'upstream_timeout_uncertain'));
    expect(await callWithCare(chat)).toContain('look at the usage of req_');
    service.answerNext(failure(402, 'weekly_limit_exceeded', { resets_at: '2026-10-08T00:00:00Z' }));
    expect(await callWithCare(chat)).toBe('Used up until 2026-10-08T00:00:00.000Z.');
    expect(await callWithCare(() => Promise.reject(new ConnectionEndedError(USER_ID)))).toContain('connect again');
    expect(new OutcomeUnknownError({ code: 'x', message: '' })).toBeInstanceOf(SvcError);
  });

  test('budget: names what is left of the limit', async () => {
    const app = { paused: false, used_micros: 1_600_000, held_micros: 0, limit_micros: 2_000_000, period: 'week' };
    const usage = {
      status: null,
      plan: null,
      period: null,
      weekly: null,
      monthly: null,
      pending_requests: 0,
      max_pending_requests: 2,
      services: { chat: true, audio_transcription: false },
      extra: { enabled: false, used_micros: 0, limit_micros: 0 },
      app: { ...app, resets_at: null, expires_at: null },
    };
    const unlimited = { ...usage, app: { ...usage.app, limit_micros: null, period: null } };
    service.answerNext(json(200, usage), json(200, unlimited));
    expect(await describeBudget(client(), 'EUR')).toBe('€0.40 of €2.00 left');
    expect(await describeBudget(client(), 'EUR')).toBeUndefined();
  });

  test('webhooks: with Express and PostgreSQL, and with Fastify', async () => {
    const events = await startStandInEvents();
    const credentials = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, signingSecret: SECRET };
    const { app: receiving, caughtUp } = startApp(database.knex, { baseUrl: events.url, ...credentials });
    const partner = await listen(receiving);
    for (const each of [testEvent(1), snapshot(2, 1), snapshot(2, 1)]) {
      const delivery = deliveryOf(each);
      const headers = { 'content-type': 'application/json', 'x-svc-signature': String(delivery.headers) };
      const body = String(delivery.rawBody);
      const answer = await fetch(`${partner.url}/webhooks`, { method: 'POST', headers, body });
      expect(answer.status).toBe(204);
    }
    expect(await database.knex('svc_subscriptions')).toEqual([{ svc_user_id: USER_ID, status: 'active' }]);
    await partner.stop();
    await caughtUp.stop();
    await events.stop();

    const store = createMemoryWebhookStore();
    const receiver = createWebhookReceiver({ secret: SECRET, clientId: CLIENT_ID, store, handle: async () => {} });
    const app = createFastifyApp(receiver);
    const delivery = deliveryOf(testEvent(1));
    const headers = { 'x-svc-signature': String(delivery.headers), 'content-type': 'application/json' };
    const payload = String(delivery.rawBody);
    const answer = await app.inject({ method: 'POST', url: '/webhooks', headers, payload });
    expect(answer.statusCode).toBe(204);
    await app.close();
  });
});

import type { AccountUsage, PlanServices } from '@svc/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type BillingStandIn, NO_PLAN, startBillingStandIn, usageOf } from './support/billing-stand-in.ts';
import { newBrowser } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import {
  challengeOf,
  connect,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
  STATE,
} from './support/partner.ts';

let billing: BillingStandIn;
let service: AuthService;
let owner: Person;
let app: RegisteredApp;

beforeAll(async () => {
  billing = await startBillingStandIn();
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url });
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner);
});
afterAll(async () => {
  await service.stop();
  await billing.stop();
});
afterEach(() => {
  billing.isDown = false;
  billing.changes.length = 0;
});

const WEEKLY = { limit_micros: 2_000_000, period: 'week' };
const DETAILS = [{ type: 'inference_budget', ...WEEKLY, currency: 'EUR' }];

const patch = (person: Person, json: object, clientId = app.clientId) =>
  call(`${service.url}/v1/integrations/connections/${clientId}`, { method: 'PATCH', token: person.token, json });
const connectionOf = async (person: Person) => {
  const { body } = await call(`${service.url}/v1/integrations/connections`, { token: person.token });
  return (body as { data: object[] }).data[0];
};
const tokensOf = async (person: Person, budget?: object | null) => {
  const verifier = newVerifier();
  const over = budget === undefined ? {} : { budget };
  const decided = await call(`${service.url}/v1/integrations/oauth/authorize`, {
    token: person.token,
    json: consentRequest(app, verifier, over),
  });
  const code = new URL(textAt(decided, 'redirect_to')).searchParams.get('code') ?? '';
  return await redeem(service, { app, code, verifier });
};

describe('consent with a budget', () => {
  test('sends the budget to billing before the tokens exist, and repeats it in each token response', async () => {
    const person = await newPerson(service);
    const tokens = await tokensOf(person, WEEKLY);
    expect(billing.changes).toEqual([{ key: `${person.userId} ${app.clientId}`, change: { budget: WEEKLY } }]);
    expect(tokens.body).toMatchObject({ authorization_details: DETAILS });
    const refreshed = await refresh(service, { app, token: textAt(tokens, 'refresh_token') });
    expect(refreshed.body).toMatchObject({ authorization_details: DETAILS });
    expect(await connectionOf(person)).toMatchObject({
      paused: false,
      budget: { ...WEEKLY, currency: 'EUR', used_micros: 7, resets_at: null, expires_at: null },
    });
  });

  test('keeps the current limit if the budget is absent, and removes it if it is null', async () => {
    const person = await newPerson(service);
    const expires_at = '2030-01-01T00:00:00.000Z';
    await tokensOf(person, { ...WEEKLY, expires_at });
    billing.changes.length = 0;
    expect((await tokensOf(person)).body).toMatchObject({ authorization_details: [{ ...DETAILS[0], expires_at }] });
    expect(billing.changes).toEqual([]);
    expect((await tokensOf(person, null)).body).not.toHaveProperty('authorization_details');
    expect(billing.changes).toMatchObject([{ change: { budget: null } }]);
  });

  test('keeps the limit of an ended connection, and resumes it', async () => {
    const person = await newPerson(service);
    await tokensOf(person, WEEKLY);
    await patch(person, { paused: true });
    await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
    billing.changes.length = 0;
    expect((await tokensOf(person)).body).toMatchObject({ authorization_details: DETAILS });
    expect(billing.changes).toMatchObject([{ change: { paused: false } }]);
  });

  test('does not call billing without a budget', async () => {
    billing.isDown = true;
    const person = await newPerson(service);
    const tokens = await tokensOf(person, null);
    expect(tokens.status).toBe(200);
    expect(tokens.body).not.toHaveProperty('authorization_details');
    expect(await connectionOf(person)).toMatchObject({ paused: false, budget: null });
  });

  test('returns 503 and connects nothing if billing does not respond', async () => {
    billing.isDown = true;
    const person = await newPerson(service);
    const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
      token: person.token,
      json: consentRequest(app, newVerifier(), { budget: WEEKLY }),
    });
    expect([answer.status, textAt(answer, 'detail', 'code')]).toEqual([503, 'service_unavailable']);
    expect(await connectionOf(person)).toBeUndefined();
  });

  test.each([
    [{ limit_micros: -1, period: 'week' }, 'limit_micros'],
    [{ limit_micros: 1.5, period: 'week' }, 'limit_micros'],
    [{ limit_micros: 1, period: 'day' }, 'period'],
    [{ limit_micros: 1 }, 'period'],
    [{ ...WEEKLY, expires_at: 'tomorrow' }, 'expires_at'],
    [{ ...WEEKLY, expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ ...WEEKLY, currency: 'EUR' }, 'currency'],
  ])('returns 422 for %o', async (budget, field) => {
    const person = await newPerson(service);
    const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
      token: person.token,
      json: consentRequest(app, newVerifier(), { budget }),
    });
    expect([answer.status, textAt(answer, 'detail', '0', 'loc', '2')]).toEqual([422, field]);
  });
});

describe('PATCH connection', () => {
  test('sets, pauses and removes; absent fields stay', async () => {
    const person = await newPerson(service);
    await connect(service, { app, person });
    const set = await patch(person, { budget: { limit_micros: 5, period: 'total' } });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({
      client_id: app.clientId,
      scope: 'inference usage:read',
      paused: false,
      budget: { limit_micros: 5, currency: 'EUR', period: 'total', used_micros: 7 },
    });
    const paused = await patch(person, { paused: true });
    expect(paused.body).toMatchObject({ paused: true, budget: { limit_micros: 5 } });
    expect(await connectionOf(person)).toEqual(paused.body);
    expect((await patch(person, { budget: null })).body).toMatchObject({ paused: true, budget: null });
    expect((await patch(person, {})).body).toMatchObject({ paused: true, budget: null });
  });

  test('records changes of the limit, a pause and a resumption, but nothing that stays as it was', async () => {
    const person = await newPerson(service);
    await connect(service, { app, person });
    const budget = WEEKLY;
    for (const terms of [{ budget }, { budget, paused: true }, { paused: true }, { paused: false, budget: null }])
      expect((await patch(person, terms)).status).toBe(200);
    const path = `${service.url}/v1/integrations/connections/${app.clientId}/audit`;
    const entry = (action: string) => ({ action, scope: null, network: '127.0.0.0/24', client_kind: 'console' });
    expect((await call(path, { token: person.token })).body).toMatchObject({
      data: [
        entry('resumed'),
        entry('limit_changed'),
        entry('paused'),
        entry('limit_changed'),
        { action: 'connected' },
      ],
    });
  });

  test('returns 503 and changes nothing if billing does not respond', async () => {
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person });
    billing.isDown = true;
    expect((await patch(person, { budget: WEEKLY })).status).toBe(503);
    billing.isDown = false;
    expect((await refresh(service, { app, token: refreshToken })).body).not.toHaveProperty('authorization_details');
  });

  test('returns 404 for a connection of another user or one that has ended', async () => {
    const person = await newPerson(service);
    expect((await patch(person, { paused: true })).status).toBe(404);
    await connect(service, { app, person });
    await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
    expect((await patch(person, { paused: true })).status).toBe(404);
    expect(billing.changes).toEqual([]);
  });

  test('returns 422 for unknown or invalid fields, and 401 without a session', async () => {
    const person = await newPerson(service);
    await connect(service, { app, person });
    const past = { budget: { ...WEEKLY, expires_at: '2020-01-01T00:00:00Z' } };
    for (const json of [
      { paused: 'yes' },
      { budget: {} },
      { scope: 'inference' },
      { budget: { ...WEEKLY, x: 1 } },
      past,
    ]) {
      expect((await patch(person, json)).status).toBe(422);
    }
    const path = `${service.url}/v1/integrations/connections/${app.clientId}`;
    expect((await call(path, { method: 'PATCH', json: {} })).status).toBe(401);
  });
});

describe('RFC 9396 authorization details', () => {
  const query = (details: unknown) =>
    new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      code_challenge_method: 'S256',
      response_type: 'code',
      state: STATE,
      locale: 'en',
      authorization_details: typeof details === 'string' ? details : JSON.stringify(details),
    });
  const malformed: [string, unknown][] = [
    ['no JSON', '{'],
    ['no list', DETAILS[0]],
    ['an unknown type', [{ ...DETAILS[0], type: 'payment' }]],
    ['an unknown field', [{ ...DETAILS[0], locations: [] }]],
    ['a missing field', [{ type: 'inference_budget', limit_micros: 1, currency: 'EUR' }]],
    ['a negative limit', [{ ...DETAILS[0], limit_micros: -1 }]],
    ['another currency', [{ ...DETAILS[0], currency: 'USD' }]],
    ['two budgets', [DETAILS[0], DETAILS[0]]],
    ['an end that has passed', [{ ...DETAILS[0], expires_at: '2020-01-01T00:00:00Z' }]],
  ];

  test('§10: are named in the metadata', async () => {
    const { body } = await call(`${service.url}/.well-known/oauth-authorization-server`);
    expect(body).toMatchObject({ authorization_details_types_supported: ['inference_budget'] });
  });

  test.each(malformed)('§5: report %s to the app at its redirect URI', async (_name, details) => {
    const answer = await call(`${service.url}/v1/integrations/oauth/authorize?${query(details)}`);
    expect(answer.status).toBe(303);
    const target = new URL(answer.headers.get('location') ?? '');
    expect(`${target.origin}${target.pathname}`).toBe(app.redirectUri);
    expect(Object.fromEntries(target.searchParams)).toEqual({
      error: 'invalid_authorization_details',
      state: STATE,
      iss: service.url,
    });
  });

  test.each(malformed)('§5: refuse %s when it is pushed', async (_name, details) => {
    const answer = await call(`${service.url}/v1/integrations/oauth/par`, { form: Object.fromEntries(query(details)) });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_authorization_details' });
  });

  test.each(['browser', 'pushed'])('accept well-formed details (%s)', async (how) => {
    const page = `${service.url}/v1/integrations/oauth/authorize`;
    const asked = query(DETAILS);
    let address = `${page}?${asked}`;
    if (how === 'pushed') {
      const pushed = await call(`${service.url}/v1/integrations/oauth/par`, { form: Object.fromEntries(asked) });
      expect(pushed.status).toBe(201);
      address = `${page}?${new URLSearchParams({ client_id: app.clientId, request_uri: textAt(pushed, 'request_uri') })}`;
    }
    const shown = await call(address);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Sign in to svc');
  });
});

describe('the consent page', () => {
  const open = async (person: Person, over: Record<string, string> = {}) => {
    const browser = newBrowser(service);
    const verifier = newVerifier();
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(verifier),
      state: STATE,
      locale: 'en',
      ...over,
    });
    const page = await browser.open(`/v1/integrations/oauth/authorize?${query}`);
    const consent = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    return { browser, verifier, consent };
  };
  const proposal = { authorization_details: JSON.stringify(DETAILS) };

  test('shows the proposal in words, and grants the limit that the person sets', async () => {
    const person = await newPerson(service);
    const { browser, verifier, consent } = await open(person, proposal);
    expect(consent.text).toContain('up to €2.00 a week');
    const fields = { limit: '1.50', period: 'month', decision: 'approve' };
    const answered = await browser.submit(consent, 'decision', fields);
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    const granted = { ...DETAILS[0], limit_micros: 1_500_000, period: 'month' };
    expect((await redeem(service, { app, code, verifier })).body).toMatchObject({ authorization_details: [granted] });
    const again = await open(person, { ...proposal, locale: 'it' });
    expect(again.consent.text).toContain('fino a 1,50');
  });

  test('shows the typical share of a plan spent on the app, and asks billing once an hour', async () => {
    // The pages that were shown before have asked, too.
    service.clock.advanceMs(3_600_000);
    const person = await newPerson(service);
    billing.isDown = true;
    expect((await open(person)).consent.text).not.toContain('typically');
    billing.isDown = false;
    billing.typicalPercent = 12;
    expect((await open(person)).consent.text).not.toContain('typically');
    service.clock.advanceMs(60_000);
    expect((await open(person)).consent.text).toContain('typically spend about 12% of a week’s plan');
    billing.typicalPercent = 0;
    expect((await open(person, { locale: 'it' })).consent.text).toContain('circa il 12% del limite settimanale');
    service.clock.advanceMs(3_600_000);
    expect((await open(person, { locale: 'it' })).consent.text).toContain('meno dell’1%');
    expect((await open(person, { scope: 'usage:read' })).consent.text).not.toContain('typically');
    billing.typicalPercent = null;
    service.clock.advanceMs(3_600_000);
    expect((await open(person)).consent.text).not.toContain('typically');
  });

  test('names no service that the plan lacks', async () => {
    const person = await newPerson(service);
    const titleOf = async (services: PlanServices) => {
      billing.usage = usageOf({ services });
      const { text } = (await open(person)).consent;
      return /Use [^<]+ on your behalf/.exec(text)?.[0];
    };
    expect(await titleOf({ chat: true, audio_transcription: false })).toBe('Use chat on your behalf');
    const both = 'Use chat and audio transcription on your behalf';
    expect(await titleOf({ chat: false, audio_transcription: false })).toBe(both);
    expect(await titleOf({ chat: true, audio_transcription: true })).toBe(both);
    billing.isDown = true;
    expect(await titleOf({ chat: true, audio_transcription: false })).toBe(both);
  });

  test('says what the plan can still pay and until when, by the window with less left', async () => {
    const person = await newPerson(service);
    const textOf = async (usage: Partial<AccountUsage>, over = {}) => {
      billing.usage = usageOf(usage);
      return (await open(person, over)).consent.text;
    };
    expect(await textOf({})).toContain('€0.62 left this week, then from Monday, November 30.');
    expect(await textOf({}, { locale: 'it' })).toMatch(
      /Ti restano 0,62\s€ questa settimana, poi si riparte da lunedì 30/,
    );
    const { weekly, monthly } = usageOf();
    if (weekly === null || monthly === null) throw new Error('no windows');
    const nearEnd = await textOf({ monthly: { ...monthly, used_percent: 99, used_micros: 9_904_321 } });
    expect(nearEnd).toContain('€0.09 left this month, then from Tuesday, December 1.');
    const reached = await textOf({ weekly: { ...weekly, used_percent: 100, used_micros: 1_300_000 } });
    expect(reached).toContain('the app works again from Monday, November 30');
    expect(reached).not.toContain('left this');
    expect(await textOf({})).toContain('Once they are reached it stops: you never pay extra.');
    const extra = { enabled: true, used_micros: 1_200_000, limit_micros: 5_000_000 };
    const extraText = await textOf({ extra, weekly: { ...weekly, used_percent: 100 } });
    expect(extraText).toContain('your wallet pays: up to €5.00 a month for all apps, of which €1.20 is spent.');
    expect(extraText).toContain('until Monday, November 30 your wallet pays');
    expect(extraText).not.toContain('never pay extra');
    const none = { chat: false, audio_transcription: false };
    expect(await textOf({ status: 'past_due' })).toContain('payment for your plan is overdue');
    const late = await textOf({ status: 'past_due', services: none });
    expect(late).toContain('payment for your plan is overdue');
    expect(late).toContain('the app cannot use it for now');
    expect(await textOf({ status: 'unpaid', services: none })).toContain('You have no active plan');
    expect(await textOf({ status: 'paused', services: none })).toContain('Your plan is suspended');
    const noAudio = await textOf({ services: { chat: true, audio_transcription: false } });
    expect(noAudio).toContain('does not include audio transcription');
    expect(await textOf({ status: 'past_due' }, { scope: 'usage:read' })).not.toContain('overdue');
    billing.usage = usageOf();
  });

  test('offers to choose a plan where there is none, which leads back to the same request', async () => {
    const person = await newPerson(service);
    billing.usage = usageOf(NO_PLAN);
    const { text } = (await open(person)).consent;
    billing.usage = usageOf();
    const href = /href="(\/plans\?[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const next = new URL(href, service.url).searchParams.get('next') ?? '';
    expect(next).toMatch(/^\/v1\/integrations\/oauth\/authorize\?/);
    expect(new URL(next, service.url).searchParams.get('state')).toBe(STATE);
  });

  test.each(['1.000', '1,234'])('asks again for %j, which may be thousands', async (limit) => {
    const { browser, consent } = await open(await newPerson(service));
    const again = await browser.submit(consent, 'decision', { limit, period: 'week', decision: 'approve' });
    expect([again.status, again.location]).toEqual([200, undefined]);
    expect(again.text).toContain(`value="${limit}"`);
  });

  test('accepts a proposal of three decimals as filled in', async () => {
    const details = [{ ...DETAILS[0], limit_micros: 1_234_000 }];
    const asked = { authorization_details: JSON.stringify(details) };
    const { browser, verifier, consent } = await open(await newPerson(service), asked);
    const [, limit = ''] = /name="limit"[^>]* value="([^"]*)"/.exec(consent.text) ?? [];
    expect(limit).toBe('1.2340');
    const answered = await browser.submit(consent, 'decision', { limit, period: 'week', decision: 'approve' });
    const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
    expect((await redeem(service, { app, code, verifier })).body).toMatchObject({ authorization_details: details });
  });

  test('asks again if the amount is invalid, and stores nothing', async () => {
    const person = await newPerson(service);
    const { browser, consent } = await open(person);
    const again = await browser.submit(consent, 'decision', { limit: 'much', period: 'week', decision: 'approve' });
    expect(again.status).toBe(200);
    expect(again.text).toContain('Enter an amount');
    expect(again.text).toContain('value="much"');
    const answered = await browser.submit(again, 'decision', { limit: '', period: 'week', decision: 'approve' });
    expect(answered.location).toContain('code=');
    expect(billing.changes).toEqual([]);
  });

  test('states that nothing has changed if billing does not respond', async () => {
    const person = await newPerson(service);
    const { browser, consent } = await open(person, proposal);
    billing.isDown = true;
    const answered = await browser.submit(consent, 'decision', { limit: '2', period: 'week', decision: 'approve' });
    expect(answered.status).toBe(503);
    expect(answered.headers.get('content-type')).toContain('text/html');
  });
});

import { newId } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type BillingStandIn, NO_PLAN, startBillingStandIn, usageOf } from './support/billing-stand-in.ts';
import { call, textAt } from './support/http.ts';
import {
  approve,
  challengeOf,
  connect,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  REDIRECT_URI,
  type RegisteredApp,
  redeem,
  refresh,
  STATE,
} from './support/partner.ts';

let billing: BillingStandIn;
let service: AuthService;
let owner: Person;
let person: Person;
let app: RegisteredApp;

beforeAll(async () => {
  billing = await startBillingStandIn();
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url });
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner, { name: 'Notes', homepage_url: 'https://notes.example/' });
  person = await newPerson(service);
});
afterAll(async () => {
  await service?.stop();
  await billing?.stop();
});

const listOf = (whose: Person) => call(`${service.url}/v1/integrations/connections`, { token: whose.token });
const lastUseOf = async (whose: Person) => textAt(await listOf(whose), 'data', '0', 'last_used_at');
const disconnect = (whose: Person, clientId: string) =>
  call(`${service.url}/v1/integrations/connections/${clientId}`, { method: 'DELETE', token: whose.token });
const authorize = (json: object, token: string | undefined = person.token) =>
  call(`${service.url}/v1/integrations/oauth/authorize`, { token, json });
const consent = (over: Record<string, string | undefined> = {}, token: string | undefined = person.token) => {
  const parameters: Record<string, string | undefined> = {
    client_id: app.clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'inference usage:read',
    code_challenge: challengeOf(newVerifier()),
    code_challenge_method: 'S256',
    ...over,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return call(`${service.url}/v1/integrations/oauth/consent?${new URLSearchParams(given)}`, { token });
};

describe('GET consent', () => {
  test('success: returns the data for a decision, in the person’s language', async () => {
    const answer = await consent();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      app: {
        client_id: app.clientId,
        name: 'Notes',
        icon_url: `${service.url}/v1/integrations/apps/${app.clientId}/icon`,
        homepage_url: 'https://notes.example/',
        privacy_policy_url: null,
        publisher: 'Acme',
        publisher_domain: null,
      },
      scopes: [
        { name: 'inference', title: expect.stringContaining('chat'), description: expect.any(String) },
        { name: 'usage:read', title: expect.stringContaining('limiti'), description: expect.any(String) },
      ],
      already_connected: false,
      account: { email: person.email, display_name: null },
      plan: {
        name: 'Standard',
        status: 'active',
        services: { chat: true, audio_transcription: true },
        weekly: usageOf().weekly,
        monthly: usageOf().monthly,
      },
    });
  });

  test('the plan is null without a live subscription, and unknown is 503, never null', async () => {
    billing.usage = usageOf(NO_PLAN);
    expect((await consent()).body).toMatchObject({ plan: null });
    for (const status of ['canceled', 'unpaid', 'incomplete_expired'] as const) {
      billing.usage = usageOf({ status });
      expect((await consent()).body).toMatchObject({ plan: null });
    }
    billing.usage = usageOf({ status: 'past_due' });
    expect((await consent()).body).toMatchObject({ plan: { status: 'past_due' } });
    billing.isDown = true;
    expect((await consent()).status).toBe(503);
    billing.isDown = false;
    billing.usage = usageOf();
  });

  test('the plan is named although billing is slow', async () => {
    billing.delayMs = 700;
    const answer = await consent();
    billing.delayMs = 0;
    expect([answer.status, answer.body]).toMatchObject([200, { plan: { name: 'Standard' } }]);
  });

  test('success: returns the time of an existing connection', async () => {
    const friend = await newPerson(service);
    await connect(service, { app, person: friend });
    expect((await consent({}, friend.token)).body).toMatchObject({ already_connected: true });
  });

  test.each([
    ['client_id', undefined, 'missing'],
    ['scope', undefined, 'missing'],
    ['code_challenge_method', undefined, 'missing'],
    ['code_challenge_method', 'plain', 'literal_error'],
    ['code_challenge', 'short', 'string_pattern_mismatch'],
    ['client_id', 'app_unknown', 'value_error'],
    ['redirect_uri', 'https://evil.example/', 'value_error'],
    ['scope', 'openid', 'value_error'],
  ])('invalid: %s as %s is %s', async (name, value, type) => {
    const answer = await consent({ [name]: value });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: [expect.objectContaining({ loc: ['query', name], type })] });
  });

  test('unauthenticated', async () => {
    expect((await consent({}, '')).status).toBe(401);
  });
});

describe('GET a connection', () => {
  test('returns it as the list does, to its user alone', async () => {
    const whose = await newPerson(service);
    const get = (clientId: string, token: string) =>
      call(`${service.url}/v1/integrations/connections/${clientId}`, { token });
    expect((await get(app.clientId, whose.token)).status).toBe(404);
    await connect(service, { app, person: whose });
    const { body } = await listOf(whose);
    expect(await get(app.clientId, whose.token)).toMatchObject({
      status: 200,
      body: (body as { data: object[] }).data[0],
    });
    expect((await get(app.clientId, owner.token)).status).toBe(404);
  });
});

describe('POST authorize', () => {
  test('success: redirects an approval with code, state and iss, and publishes the fact', async () => {
    const friend = await newPerson(service);
    const verifier = newVerifier();
    const answer = await authorize(consentRequest(app, verifier), friend.token);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const target = new URL(textAt(answer, 'redirect_to'));
    expect(Object.fromEntries(target.searchParams)).toEqual({
      code: expect.stringMatching(/^svc_ac_/),
      state: STATE,
      iss: service.url,
    });
    const [fact, ...more] = await service.outbox(`connection:${friend.userId}:${app.clientId}`);
    expect(more).toEqual([]);
    expect(fact).toMatchObject({
      subject: 'auth.connection.created.v1',
      version: 1,
      payload: {
        svc_user_id: friend.userId,
        client_id: app.clientId,
        grant_id: expect.stringMatching(/^grt_/),
        scope: 'inference usage:read',
        connected_at: expect.stringMatching(/Z$/),
      },
    });
  });

  test('success: redirects a denial with access_denied, state and iss, and stores nothing', async () => {
    const friend = await newPerson(service);
    const answer = await authorize(consentRequest(app, newVerifier(), { approved: false }), friend.token);
    expect(Object.fromEntries(new URL(textAt(answer, 'redirect_to')).searchParams)).toEqual({
      error: 'access_denied',
      state: STATE,
      iss: service.url,
    });
    expect((await listOf(friend)).body).toEqual({ data: [] });
  });

  test('success: keeps the query of the registered redirect URI', async () => {
    const tenant = await newApp(service, owner, { redirect_uris: ['https://app.example/cb?tenant=1'] });
    const verifier = newVerifier();
    const answer = await authorize(consentRequest(tenant, verifier));
    const target = new URL(textAt(answer, 'redirect_to'));
    expect(target.searchParams.get('tenant')).toBe('1');
    const code = target.searchParams.get('code') ?? '';
    expect((await redeem(service, { app: tenant, code, verifier })).status).toBe(200);
  });

  test.each([
    ['an absent decision', { approved: undefined }, 'approved', 'missing'],
    ['a text for a decision', { approved: 'true' }, 'approved', 'bool_type'],
    ['a short state', { state: 'x'.repeat(15) }, 'state', 'string_too_short'],
    ['a long state', { state: 'x'.repeat(513) }, 'state', 'string_too_long'],
    ['no challenge method', { code_challenge_method: undefined }, 'code_challenge_method', 'missing'],
    ['the plain challenge method', { code_challenge_method: 'plain' }, 'code_challenge_method', 'literal_error'],
    ['an unknown app', { client_id: 'app_unknown' }, 'client_id', 'value_error'],
    ['a redirect URI that is not registered', { redirect_uri: `${REDIRECT_URI}/` }, 'redirect_uri', 'value_error'],
    ['a scope of account management', { scope: 'inference apps:write' }, 'scope', 'value_error'],
    ['an unknown field', { user_id: 'usr_x' }, 'user_id', 'extra_forbidden'],
  ])('invalid: %s', async (_what, over, name, type) => {
    const answer = await authorize(consentRequest(app, newVerifier(), over));
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: [expect.objectContaining({ loc: ['body', name], type })] });
  });

  test('unauthenticated: without a token, or with an access token', async () => {
    const { accessToken } = await connect(service, { app, person });
    expect((await authorize(consentRequest(app, newVerifier()), '')).status).toBe(401);
    expect((await authorize(consentRequest(app, newVerifier()), accessToken)).status).toBe(401);
  });

  test('forbidden: for a deactivated app', async () => {
    const off = await newApp(service, owner);
    await call(`${service.url}/v1/integrations/apps/${off.clientId}`, {
      method: 'PATCH',
      token: owner.token,
      json: { active: false },
    });
    for (const answer of [
      await authorize(consentRequest(off, newVerifier())),
      await authorize(consentRequest(off, newVerifier(), { approved: false })),
      await consent({ client_id: off.clientId }),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { detail: { code: 'app_inactive' } } });
    }
  });
});

describe('connections', () => {
  test('success: lists one connection per app, with its last use', async () => {
    const friend = await newPerson(service);
    const verifier = newVerifier();
    const code = await approve(service, { app, person: friend, verifier });
    const before = await listOf(friend);
    expect(before.body).toEqual({
      data: [
        {
          client_id: app.clientId,
          app: {
            name: 'Notes',
            icon_url: `${service.url}/v1/integrations/apps/${app.clientId}/icon`,
            homepage_url: 'https://notes.example/',
          },
          scope: 'inference usage:read',
          connected_at: expect.any(String),
          last_used_at: null,
          budget: null,
          paused: false,
        },
      ],
    });
    const tokens = await redeem(service, { app, code, verifier });
    await service.database.raw(`UPDATE grants SET last_used_at = last_used_at - interval '1 minute'`);
    const used = textAt(await listOf(friend), 'data', 0, 'last_used_at');
    await refresh(service, { app, token: textAt(tokens, 'refresh_token') });
    const later = textAt(await listOf(friend), 'data', 0, 'last_used_at');
    expect(Date.parse(later) - Date.parse(used)).toBeGreaterThanOrEqual(60_000);
  });

  test('success: another consent updates the scope of the same connection', async () => {
    const friend = await newPerson(service);
    await connect(service, { app, person: friend });
    const connectedAt = textAt(await listOf(friend), 'data', 0, 'connected_at');
    service.clock.advanceMs(1_000);
    await connect(service, { app, person: friend, over: { scope: 'usage:read' } });
    expect((await listOf(friend)).body).toMatchObject({ data: [{ scope: 'usage:read', connected_at: connectedAt }] });
    const registered = await call(`${service.url}/v1/integrations/apps`, { token: owner.token });
    expect(registered.text).toMatch(/"connections_count":[1-9]/);
  });

  test('DELETE ends every grant, with revocations and one fact', async () => {
    const friend = await newPerson(service);
    const tokens = [await connect(service, { app, person: friend }), await connect(service, { app, person: friend })];
    const pending = newVerifier();
    const unusedCode = await approve(service, { app, person: friend, verifier: pending });
    expect((await disconnect(friend, app.clientId)).status).toBe(204);
    for (const { refreshToken } of tokens) {
      expect((await refresh(service, { app, token: refreshToken })).status).toBe(400);
    }
    expect((await redeem(service, { app, code: unusedCode, verifier: pending })).status).toBe(400);
    expect((await listOf(friend)).body).toEqual({ data: [] });
    const ended = await call(`${service.url}/v1/integrations/ended-connections`, { token: friend.token });
    const expected = { client_id: app.clientId, app: { name: 'Notes' }, ended_at: expect.any(String) };
    expect(ended.body).toMatchObject({ data: [expected] });
    const left = (await service.outbox()).map(({ subject }) => subject);
    for (const { grantId } of tokens) expect(left).toContain(`$KV.revocations.grant.${grantId}`);
    const facts = await service.outbox(`connection:${friend.userId}:${app.clientId}`);
    expect(facts.at(-1)).toMatchObject({
      subject: 'auth.connection.revoked.v1',
      version: 4,
      payload: {
        svc_user_id: friend.userId,
        client_id: app.clientId,
        reason: 'user_disconnected',
        revoked_at: expect.any(String),
      },
    });
  });

  test('connecting again creates a new connection and continues the versions of its facts', async () => {
    const friend = await newPerson(service);
    await connect(service, { app, person: friend });
    await disconnect(friend, app.clientId);
    service.clock.advanceMs(5_000);
    await connect(service, { app, person: friend });
    expect((await listOf(friend)).body).toMatchObject({ data: [{ client_id: app.clientId }] });
    const ended = await call(`${service.url}/v1/integrations/ended-connections`, { token: friend.token });
    expect(ended.body).toEqual({ data: [] });
    const facts = await service.outbox(`connection:${friend.userId}:${app.clientId}`);
    expect(facts.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(facts[2]?.payload['connected_at']).not.toBe(facts[0]?.payload['connected_at']);
  });

  test('replay and not found: if not connected, unknown, or another person’s', async () => {
    const friend = await newPerson(service);
    await connect(service, { app, person: friend });
    expect((await disconnect(friend, app.clientId)).status).toBe(204);
    for (const clientId of [app.clientId, 'app_unknown']) {
      expect(await disconnect(friend, clientId)).toMatchObject({
        status: 404,
        body: { detail: { code: 'not_found' } },
      });
    }
  });

  test('unauthenticated', async () => {
    for (const list of ['connections', 'ended-connections']) {
      expect((await call(`${service.url}/v1/integrations/${list}`)).status).toBe(401);
    }
  });

  test('codes of 80 concurrent consents are all valid, each for a separate grant', async () => {
    const friend = await newPerson(service);
    const consents = await Promise.all(
      Array.from({ length: 80 }, async () => {
        const verifier = newVerifier();
        return { verifier, code: await approve(service, { app, person: friend, verifier }) };
      }),
    );
    const answers = await Promise.all(consents.map((consent) => redeem(service, { app, ...consent })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  test('a connection holds 500 grants; the oldest is removed, and its last use is kept', async () => {
    const friend = await newPerson(service);
    const oldest = await connect(service, { app, person: friend });
    const lastUse = await lastUseOf(friend);
    const [{ id, last_used_at, ...grant }] = await service.database('grants').where({ user_id: friend.userId });
    const others = Array.from({ length: 499 }, () => ({ ...grant, id: newId('grt') }));
    await service.database('grants').insert(others);
    await approve(service, { app, person: friend, verifier: newVerifier() });
    expect(await service.database('grants').where({ user_id: friend.userId })).toHaveLength(500);
    expect((await refresh(service, { app, token: oldest.refreshToken })).status).toBe(400);
    expect(await lastUseOf(friend)).toBe(lastUse);
  });
});

import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import {
  approve,
  claimsOf,
  connect,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  postToken,
  REDIRECT_URI,
  type RegisteredApp,
  redeem,
  refresh,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let person: Person;
let app: RegisteredApp;
let confidential: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  person = await newPerson(service);
  app = await newApp(service, owner, { refresh_grace_seconds: 0 });
  confidential = await newApp(service, owner, { client_type: 'confidential' });
});
afterAll(() => service.stop());

const expectError = (answer: Answer, status: number, error: string): void => {
  expect([answer.status, answer.body]).toEqual([status, { error, error_description: expect.any(String) }]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
};
const expectInvalidGrant = (answer: Answer): void => expectError(answer, 400, 'invalid_grant');
const newCode = async (of: RegisteredApp = app) => {
  const verifier = newVerifier();
  return { app: of, verifier, code: await approve(service, { app: of, person, verifier }) };
};
const revocationsOf = async (grantId: string) =>
  (await service.outbox()).filter(({ subject }) => subject === `$KV.revocations.grant.${grantId}`);

describe('redeeming a code', () => {
  test('returns the tokens of spec 2.3, marked as not cacheable', async () => {
    const answer = await redeem(service, await newCode());
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^svc_rt_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'inference usage:read',
      svc_user_id: person.userId,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('RFC 9068 §2: issues an at+jwt signed with a published key', async () => {
    const { accessToken } = await connect(service, { app, person });
    const keys = createRemoteJWKSet(new URL(`${service.url}/v1/integrations/oauth/jwks`));
    const { payload } = await jwtVerify(accessToken, keys, {
      issuer: service.url,
      audience: `${service.url}/v1`,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });
    expect(payload).toMatchObject({
      sub: person.userId,
      client_id: app.clientId,
      scope: 'inference usage:read',
      grant_id: expect.stringMatching(/^grt_/),
      jti: expect.any(String),
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
  });

  test('grants only the approved scope', async () => {
    const verifier = newVerifier();
    const code = await approve(service, { app, person, verifier, over: { scope: 'usage:read' } });
    const answer = await redeem(service, { app, code, verifier });
    expect(answer.body).toMatchObject({ scope: 'usage:read' });
    expect(claimsOf(textAt(answer, 'access_token'))['scope']).toBe('usage:read');
  });

  test('does not use up the code when an attempt fails', async () => {
    const fresh = await newCode();
    expectInvalidGrant(await redeem(service, { ...fresh, verifier: newVerifier() }));
    expectInvalidGrant(await redeem(service, { ...fresh, verifier: 'short' }));
    expectInvalidGrant(await redeem(service, { ...fresh, over: { redirect_uri: 'https://app.example/other' } }));
    expectInvalidGrant(
      await redeem(service, { ...fresh, over: { client_id: (await newApp(service, owner)).clientId } }),
    );
    expectInvalidGrant(await redeem(service, { ...fresh, over: { code: `${fresh.code}x` } }));
    expect((await redeem(service, fresh)).status).toBe(200);
  });

  test('RFC 7636 §4.6: requires a verifier, from confidential apps too', async () => {
    for (const of of [app, confidential]) {
      const fresh = await newCode(of);
      const form = {
        grant_type: 'authorization_code',
        client_id: of.clientId,
        ...(of.secret === undefined ? {} : { client_secret: of.secret }),
        redirect_uri: of.redirectUri,
        code: fresh.code,
      };
      expectInvalidGrant(await postToken(service, form));
      expect((await redeem(service, fresh)).status).toBe(200);
    }
  });

  test('RFC 6749 §4.1.3: requires the redirect URI', async () => {
    const { code, verifier } = await newCode();
    const form = { grant_type: 'authorization_code', client_id: app.clientId, code, code_verifier: verifier };
    expectError(await postToken(service, form), 400, 'invalid_request');
  });

  test('RFC 8252 §7.3: requires the port of the authorization request', async () => {
    const native = await newApp(service, owner, { redirect_uris: ['http://127.0.0.1/cb'] });
    const running = { ...native, redirectUri: 'http://127.0.0.1:51823/cb' };
    const fresh = await newCode(running);
    expectInvalidGrant(await redeem(service, { ...fresh, app: native }));
    expect((await redeem(service, fresh)).status).toBe(200);
  });

  test('expires a code after five minutes', async () => {
    const fresh = await newCode();
    await service.database.raw(`UPDATE authorization_codes SET expires_at = now() - interval '1 second'`);
    expectInvalidGrant(await redeem(service, fresh));
    const stored = await service.database('authorization_codes').orderBy('issued_at', 'desc').first();
    expect(stored.consumed_at).toBeNull();
    const later = await newCode();
    const row = await service.database('authorization_codes').orderBy('issued_at', 'desc').first();
    expect(row.expires_at - row.issued_at).toBe(300_000);
    expect((await redeem(service, later)).status).toBe(200);
  });

  test.each([
    ['again', {}],
    ['again with a wrong verifier', { code_verifier: 'w'.repeat(43) }],
    ['again for another redirect URI', { redirect_uri: 'https://app.example/other' }],
  ])('RFC 9700 §4.5: redeeming a code %s ends its grant', async (_what, over) => {
    const fresh = await newCode();
    const first = await redeem(service, fresh);
    const grantId = claimsOf(textAt(first, 'access_token'))['grant_id'] ?? '';
    expectInvalidGrant(await redeem(service, { ...fresh, over }));
    expect(await revocationsOf(grantId)).toHaveLength(1);
    expectInvalidGrant(await refresh(service, { app, token: textAt(first, 'refresh_token') }));
  });

  test('RFC 9700 §4.5: redeeming a used code after its five minutes ends its grant', async () => {
    const fresh = await newCode();
    const first = await redeem(service, fresh);
    await service.database.raw(`UPDATE authorization_codes SET expires_at = now() - interval '1 second'`);
    expectInvalidGrant(await redeem(service, fresh));
    expectInvalidGrant(await refresh(service, { app, token: textAt(first, 'refresh_token') }));
  });

  test('keeps the connection when a grant ends', async () => {
    const fresh = await newCode();
    await redeem(service, fresh);
    await redeem(service, fresh);
    const connections = await call(`${service.url}/v1/integrations/connections`, { token: person.token });
    expect(connections.text).toContain(app.clientId);
  });
});

describe('refreshing', () => {
  test('rotates, keeps the user and the scope', async () => {
    const { refreshToken } = await connect(service, { app, person });
    const answer = await refresh(service, { app, token: refreshToken });
    expect(answer.body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^svc_rt_/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'inference usage:read',
      svc_user_id: person.userId,
    });
    expect(answer.text).not.toContain(refreshToken);
  });

  test('RFC 6749 §6: narrows the scope for this access token only, and never widens it', async () => {
    const { refreshToken } = await connect(service, { app, person });
    const narrow = await refresh(service, { app, token: refreshToken, over: { scope: 'inference' } });
    expect(claimsOf(textAt(narrow, 'access_token'))['scope']).toBe('inference');
    const whole = await refresh(service, { app, token: textAt(narrow, 'refresh_token') });
    expect(whole.body).toMatchObject({ scope: 'inference usage:read' });
    const next = textAt(whole, 'refresh_token');
    expectWidened(await refresh(service, { app, token: next, over: { scope: 'inference admin' } }));
    const small = await connect(service, { app, person, over: { scope: 'usage:read' } });
    expectWidened(await refresh(service, { app, token: small.refreshToken, over: { scope: 'inference' } }));
    expect((await refresh(service, { app, token: small.refreshToken })).status).toBe(200);
  });
  const expectWidened = (answer: Answer): void => {
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: 'invalid_scope' });
  };

  test('ends the grant on a second use without grace', async () => {
    const { refreshToken, grantId } = await connect(service, { app, person });
    const next = await refresh(service, { app, token: refreshToken });
    expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    expectInvalidGrant(await refresh(service, { app, token: textAt(next, 'refresh_token') }));
    expect(await revocationsOf(grantId)).toHaveLength(1);
  });

  test('ends one grant of a connection and keeps the others', async () => {
    const first = await connect(service, { app, person });
    const second = await connect(service, { app, person });
    await refresh(service, { app, token: first.refreshToken });
    expectInvalidGrant(await refresh(service, { app, token: first.refreshToken }));
    expect((await refresh(service, { app, token: second.refreshToken })).status).toBe(200);
  });

  test('refuses a token of another app or without the secret, and does not use it up', async () => {
    const { refreshToken } = await connect(service, { app: confidential, person });
    expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    expectError(
      await refresh(service, { app: { ...confidential, secret: undefined }, token: refreshToken }),
      401,
      'invalid_client',
    );
    expect((await refresh(service, { app: confidential, token: refreshToken })).status).toBe(200);
  });

  test('expires a refresh token 30 days after its last use', async () => {
    const { refreshToken } = await connect(service, { app, person });
    await service.database.raw(`UPDATE refresh_tokens SET expires_at = now() - interval '1 second'`);
    expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    const fresh = await connect(service, { app, person });
    await refresh(service, { app, token: fresh.refreshToken });
    const rows = await service.database('refresh_tokens').where({ grant_id: fresh.grantId });
    for (const row of rows) expect(row.expires_at - row.issued_at).toBe(30 * 24 * 3600 * 1000);
  });
});

describe('client authentication', () => {
  const basic = (secret: string | undefined, clientId = confidential.clientId) => ({
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
  });
  const form = async (over: Record<string, string> = {}) => {
    const { code, verifier } = await newCode(confidential);
    return { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code, code_verifier: verifier, ...over };
  };
  const id = () => ({ client_id: confidential.clientId });

  test('RFC 6749 §2.3.1: accepts the secret in the form, or by HTTP Basic with or without the id in the form', async () => {
    expect((await postToken(service, await form({ ...id(), client_secret: confidential.secret ?? '' }))).status).toBe(
      200,
    );
    expect((await postToken(service, await form(), basic(confidential.secret))).status).toBe(200);
    expect((await postToken(service, await form(id()), basic(confidential.secret))).status).toBe(200);
  });

  test('returns 401 invalid_client for a wrong or missing secret', async () => {
    expectError(await postToken(service, await form(id())), 401, 'invalid_client');
    expectError(
      await postToken(service, await form({ ...id(), client_secret: 'svc_cs_wrong' })),
      401,
      'invalid_client',
    );
    const answer = await postToken(service, await form(), basic('wrong'));
    expectError(answer, 401, 'invalid_client');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  test('RFC 6749 §2.3.1: takes an empty secret by HTTP Basic as the id of a public app, not as proof', async () => {
    const { code, verifier } = await newCode();
    const redeemed = { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code, code_verifier: verifier };
    const answer = await postToken(service, redeemed, basic('', app.clientId));
    expect(answer.status).toBe(200);
    const refreshed = { grant_type: 'refresh_token', refresh_token: textAt(answer, 'refresh_token') };
    expect((await postToken(service, refreshed, basic('', app.clientId))).status).toBe(200);
    const named = { grant_type: 'refresh_token', refresh_token: 'unknown', client_id: app.clientId };
    expectError(await postToken(service, named, basic('', app.clientId)), 400, 'invalid_grant');

    const unproven = await postToken(service, await form(), basic(''));
    expectError(unproven, 401, 'invalid_client');
    expect(unproven.headers.get('www-authenticate')).toMatch(/^Basic /);
    const twice = await form({ ...id(), client_secret: confidential.secret ?? '' });
    expectError(await postToken(service, twice, basic('')), 400, 'invalid_request');
    const unnamed = await form({ client_secret: confidential.secret ?? '' });
    expectError(await postToken(service, unnamed, basic('')), 400, 'invalid_request');
  });

  test('refuses two methods at once', async () => {
    const both = await form({ ...id(), client_secret: confidential.secret ?? '' });
    expectError(await postToken(service, both, basic(confidential.secret)), 400, 'invalid_request');
  });

  test('returns 401 for a public app with a secret, and for an unknown app', async () => {
    const { code, verifier } = await newCode();
    expectError(await redeem(service, { app, code, verifier, over: { client_secret: 'x' } }), 401, 'invalid_client');
    expectError(
      await redeem(service, { app, code, verifier, over: { client_id: 'app_ghost' } }),
      401,
      'invalid_client',
    );
  });

  test('returns 401 for a deactivated app', async () => {
    const fading = await newApp(service, owner);
    const { refreshToken } = await connect(service, { app: fading, person });
    const fresh = await newCode(fading);
    const patch = (active: boolean) =>
      call(`${service.url}/v1/integrations/apps/${fading.clientId}`, {
        method: 'PATCH',
        token: owner.token,
        json: { active },
      });
    await patch(false);
    expectError(await refresh(service, { app: fading, token: refreshToken }), 401, 'invalid_client');
    expectError(await redeem(service, fresh), 401, 'invalid_client');
    await patch(true);
    expectInvalidGrant(await refresh(service, { app: fading, token: refreshToken }));
    expectInvalidGrant(await redeem(service, fresh));
  });
});

describe('the form', () => {
  const missing = (...names: string[]) => ({
    detail: names.map((name) => ({ loc: ['form', name], type: 'missing', msg: 'Field required' })),
  });

  test('spec 4.1: returns 422 without grant_type or client_id', async () => {
    expect(await postToken(service, { client_id: app.clientId })).toMatchObject({
      status: 422,
      body: missing('grant_type'),
    });
    expect(await postToken(service, { grant_type: 'refresh_token' })).toMatchObject({
      status: 422,
      body: missing('client_id'),
    });
    expect(await postToken(service, {})).toMatchObject({ status: 422, body: missing('grant_type', 'client_id') });
    expect(await postToken(service, { grant_type: '', client_id: '' })).toMatchObject({
      status: 422,
      body: missing('grant_type', 'client_id'),
    });
    expect(await postToken(service, { client_id: 'app_ghost' })).toMatchObject({
      status: 422,
      body: missing('grant_type'),
    });
    const nothing = await call(`${service.url}/v1/integrations/oauth/token`, { method: 'POST' });
    expect(nothing).toMatchObject({ status: 422, body: missing('grant_type', 'client_id') });
  });

  test('requires no client_id only with HTTP Basic', async () => {
    const headers = { authorization: `Basic ${Buffer.from(`${confidential.clientId}:x`).toString('base64')}` };
    expect(await postToken(service, { a: 'b' }, { headers })).toMatchObject({
      status: 422,
      body: missing('grant_type'),
    });
    expectError(await postToken(service, { grant_type: 'refresh_token' }, { headers }), 401, 'invalid_client');
    const bearer = { headers: { authorization: `Bearer ${person.token}` } };
    expect(await postToken(service, { grant_type: 'refresh_token' }, bearer)).toMatchObject({
      status: 422,
      body: missing('client_id'),
    });
  });

  test('RFC 6749 §5.2: returns other faults by its error codes', async () => {
    expectError(
      await postToken(service, { grant_type: 'password', client_id: app.clientId }),
      400,
      'unsupported_grant_type',
    );
    expectError(
      await postToken(service, { grant_type: 'client_credentials', client_id: app.clientId }),
      400,
      'unsupported_grant_type',
    );
    const twice = `grant_type=authorization_code&client_id=${app.clientId}&code=a&code=b&redirect_uri=x`;
    expectError(await postToken(service, twice), 400, 'invalid_request');
    expectError(
      await postToken(service, { grant_type: 'refresh_token', client_id: app.clientId }),
      400,
      'invalid_request',
    );
  });

  test('returns 415 for another media type, and 413 for an oversized form', async () => {
    const json = await call(`${service.url}/v1/integrations/oauth/token`, { json: { grant_type: 'refresh_token' } });
    expect(json).toMatchObject({ status: 415, body: { error: 'invalid_request' } });
    const long = await postToken(service, { grant_type: 'x'.repeat(70_000), client_id: 'y' });
    expect(long).toMatchObject({ status: 413, body: { error: 'invalid_request' } });
  });

  test('returns errors as JSON for every Accept header', async () => {
    const answer = await postToken(
      service,
      { grant_type: 'password', client_id: app.clientId },
      { headers: { accept: 'text/html' } },
    );
    expectError(answer, 400, 'unsupported_grant_type');
  });

  test('RFC 8707 §2: accepts our resources, and no other', async () => {
    const right = await redeem(service, { ...(await newCode()), over: { resource: `${service.url}/v1` } });
    expect(right.status).toBe(200);
    const wrong = await redeem(service, { ...(await newCode()), over: { resource: 'https://other.example' } });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
  });

  test('RFC 9449 §5: refuses an invalid DPoP header instead of ignoring it', async () => {
    const { code, verifier } = await newCode();
    const answer = await call(`${service.url}/v1/integrations/oauth/token`, {
      form: {
        grant_type: 'authorization_code',
        client_id: app.clientId,
        redirect_uri: app.redirectUri,
        code,
        code_verifier: verifier,
      },
      headers: { dpop: 'x.y.z' },
    });
    expect([answer.status, textAt(answer, 'error')]).toEqual([400, 'invalid_dpop_proof']);
  });
});

describe('revoking (RFC 7009)', () => {
  const revoke = (of: RegisteredApp, token: string, over: Record<string, string> = {}) =>
    call(`${service.url}/v1/integrations/oauth/revoke`, {
      form: {
        client_id: of.clientId,
        ...(of.secret === undefined ? {} : { client_secret: of.secret }),
        token,
        ...over,
      },
    });

  test.each(['refreshToken', 'accessToken'] as const)(
    '§2.1: ends the whole grant of the %s, not the connection',
    async (kind) => {
      for (const of of [app, confidential]) {
        const tokens = await connect(service, { app: of, person });
        const answer = await revoke(of, tokens[kind]);
        // Stock clients (oidc-client-ts, simple-oauth2) read the answer as JSON, and take no other type.
        expect([answer.status, answer.text]).toEqual([200, '{}']);
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        expectInvalidGrant(await refresh(service, { app: of, token: tokens.refreshToken }));
        expect(await revocationsOf(tokens.grantId)).toHaveLength(1);
        const connections = await call(`${service.url}/v1/integrations/connections`, { token: person.token });
        expect(connections.text).toContain(of.clientId);
      }
    },
  );

  test('§2.2: returns the same answer for an unknown or forged token', async () => {
    const { accessToken, grantId } = await connect(service, { app, person });
    const [header = '', payload = ''] = accessToken.split('.');
    for (const token of ['svc_rt_unknown', `${header}.${payload}.AAAA`, 'a.b.c']) {
      expect((await revoke(app, token)).status).toBe(200);
    }
    expect(await revocationsOf(grantId)).toHaveLength(0);
  });

  test('§2.1: keeps the tokens of another app', async () => {
    const { accessToken, refreshToken, grantId } = await connect(service, { app, person });
    for (const token of [accessToken, refreshToken]) expect((await revoke(confidential, token)).status).toBe(200);
    expect(await revocationsOf(grantId)).toHaveLength(0);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
  });

  test('accepts a wrong hint, and ignores a session token', async () => {
    const { refreshToken } = await connect(service, { app, person });
    await revoke(app, refreshToken, { token_type_hint: 'access_token' });
    expectInvalidGrant(await refresh(service, { app, token: refreshToken }));
    expect((await revoke(app, person.token)).status).toBe(200);
    expect((await call(`${service.url}/v1/console/session`, { token: person.token })).status).toBe(200);
  });

  test('§2.1: requires authentication from a confidential app', async () => {
    const { refreshToken } = await connect(service, { app: confidential, person });
    const answer = await revoke({ ...confidential, secret: 'svc_cs_wrong' }, refreshToken);
    expectError(answer, 401, 'invalid_client');
    expect((await refresh(service, { app: confidential, token: refreshToken })).status).toBe(200);
  });
});

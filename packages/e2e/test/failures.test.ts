import { randomUUID } from 'node:crypto';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { call } from './support/api.ts';
import {
  beginAuthorize,
  type ConnectedPartner,
  chat,
  connect,
  decide,
  discoverPartner,
  redeem,
  sseData,
} from './support/partner.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith, startReceiver } from './support/receiver.ts';

describe('failures during the main job', () => {
  let business: Person;
  let user: Person;
  let app: RegisteredApp;
  let partner: ConnectedPartner;

  beforeAll(async () => {
    [business, user] = await Promise.all([signUp('business'), signUp('personal')]);
    app = await registerApp(business);
    await subscribe(user);
    partner = await connect(user, app);
  });

  describe('accounts', () => {
    test('names every fault of a sign-up in the validation shape, without echoing the password', async () => {
      const answer = await call('POST', '/v1/console/accounts', {
        body: { email: 'no-address', password: 'short', account_type: 'other', extra: 1 },
      });
      expect(answer.status).toBe(422);
      const faults = (answer.body.detail as unknown as { loc: string[]; type: string }[]).map((fault) => [
        fault.loc.join('.'),
        fault.type,
      ]);
      expect(Object.fromEntries(faults)).toEqual({
        'body.email': 'string_pattern_mismatch',
        'body.password': 'string_too_short',
        'body.account_type': 'enum',
        'body.extra': 'extra_forbidden',
      });
      expect(answer.text).not.toContain('"short"');
    });

    test('refuses a taken address in any letter case', async () => {
      const answer = await call('POST', '/v1/console/accounts', {
        body: { email: user.email.toUpperCase(), password: randomUUID(), account_type: 'personal' },
      });
      expect(answer).toMatchObject({ status: 409, body: { detail: { code: 'email_taken' } } });
    });

    test('gives the same response to a wrong password and an unknown address', async () => {
      const wrong = await call('POST', '/v1/console/sessions', {
        body: { email: user.email, password: 'not this one!' },
      });
      const unknown = await call('POST', '/v1/console/sessions', {
        body: { email: `${randomUUID()}@example.com`, password: 'not this one!' },
      });
      expect(wrong).toMatchObject({ status: 401, body: { detail: { code: 'invalid_credentials' } } });
      expect(unknown.body).toEqual(wrong.body);
    });

    test('ends the session in every service on sign-out', async () => {
      const { token } = await signUp('personal');
      expect((await call('GET', '/v1/subscriptions', { token })).status).toBe(200);
      expect((await call('DELETE', '/v1/console/session', { token })).status).toBe(204);
      expect((await call('GET', '/v1/console/session', { token })).status).toBe(401);
      for (const path of ['/v1/subscriptions', '/v1/gateway/wallet']) {
        await expect.poll(async () => (await call('GET', path, { token })).status, { timeout: 1000 }).toBe(401);
      }
    });
  });

  describe('apps', () => {
    test('are for business accounts only', async () => {
      const answer = await call('GET', '/v1/integrations/apps', { token: user.token });
      expect(answer).toMatchObject({ status: 403, body: { detail: { code: 'business_account_required' } } });
    });

    test('of another business return 404', async () => {
      const other = await signUp('business');
      for (const [method, path, body] of [
        ['PATCH', '', { active: false }],
        ['DELETE', '', undefined],
        ['POST', '/rotate-secret', undefined],
        ['GET', '/webhook', undefined],
        ['PUT', '/webhook', { url: 'https://example.com/hook' }],
        ['POST', '/webhook/test', undefined],
      ] as const) {
        const answer = await call(method, `/v1/integrations/apps/${app.clientId}${path}`, { token: other.token, body });
        expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(404);
      }
    });

    test.each([
      'http://partner.example/cb',
      'https://partner.example/cb#x',
      'https://*.example/cb',
      'javascript:alert(1)',
      'https://u:p@x.example/',
    ])('reject the redirect URI %s', async (redirectUri) => {
      const answer = await call('POST', '/v1/integrations/apps', {
        token: business.token,
        body: { name: 'X', redirect_uris: [redirectUri] },
      });
      expect(answer.status).toBe(422);
      expect((answer.body.detail as unknown as { loc: unknown[] }[])[0]?.loc).toEqual(['body', 'redirect_uris', 0]);
    });
  });

  describe('authorize', () => {
    test('shows an error page, and never redirects, for an unknown app or a foreign redirect URI', async () => {
      const configuration = await discoverPartner(app);
      const foreign = await beginAuthorize(configuration, app, { redirect_uri: 'https://evil.example/cb' });
      const unknown = await beginAuthorize(configuration, app, { client_id: 'app_unknown' });
      for (const { url } of [foreign, unknown]) {
        const page = await call('GET', url.pathname + url.search, { headers: { accept: 'text/html' } });
        expect(page.status).toBe(400);
        expect(page.headers.get('content-type')).toContain('text/html');
        expect(page.headers.get('location')).toBeNull();
        expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
        expect(page.text).not.toContain('evil.example/cb"');
      }
    });

    test('answers a malformed query with 422', async () => {
      const page = await call('GET', `/v1/integrations/oauth/authorize?client_id=${app.clientId}&state=short`);
      expect(page.status).toBe(422);
      const faults = page.body.detail as unknown as { loc: string[]; type: string }[];
      expect(Object.fromEntries(faults.map((fault) => [fault.loc.join('.'), fault.type]))).toEqual({
        'query.redirect_uri': 'missing',
        'query.code_challenge': 'missing',
        'query.state': 'string_too_short',
      });
    });

    test('returns access_denied, state and iss on denial', async () => {
      const configuration = await discoverPartner(app);
      const request = await beginAuthorize(configuration, app);
      const callback = await decide(user, request, false);
      expect(callback.searchParams.get('error')).toBe('access_denied');
      expect(callback.searchParams.get('state')).toBe(request.state);
      expect(callback.searchParams.get('iss')).toBe(configuration.serverMetadata().issuer);
      await expect(redeem(configuration, callback, request)).rejects.toMatchObject({ error: 'access_denied' });
    });

    test('revokes the tokens of a code that is redeemed twice', async () => {
      const configuration = await discoverPartner(app);
      const request = await beginAuthorize(configuration, app);
      const callback = await decide(user, request, true);
      const tokens = await redeem(configuration, callback, request);
      await expect(redeem(configuration, callback, request)).rejects.toMatchObject({ error: 'invalid_grant' });
      await expect(client.refreshTokenGrant(configuration, String(tokens.refresh_token))).rejects.toMatchObject({
        error: 'invalid_grant',
      });
      await expect.poll(async () => (await chat(tokens.access_token, 'Hello?')).status, { timeout: 1000 }).toBe(401);
      expect((await chat(partner.accessToken, 'Another grant lives on.')).status).toBe(200);
    });

    test('refuses a wrong verifier', async () => {
      const configuration = await discoverPartner(app);
      const request = await beginAuthorize(configuration, app);
      const callback = await decide(user, request, true);
      const wrong = { ...request, verifier: client.randomPKCECodeVerifier() };
      await expect(redeem(configuration, callback, wrong)).rejects.toMatchObject({ error: 'invalid_grant' });
    });
  });

  describe('chat', () => {
    test.each([
      [{ model: 'gpt-x' }, ['body', 'model'], 'extra_forbidden'],
      [{ messages: [] }, ['body', 'messages'], 'too_short'],
      [{ max_tokens: 0 }, ['body', 'max_tokens'], 'greater_than'],
      [{ stream: 'yes' }, ['body', 'stream'], 'bool_type'],
    ])('refuses %j', async (more, loc, type) => {
      const answer = await chat(partner.accessToken, 'Hello', more);
      expect(answer.status).toBe(422);
      expect((answer.body.detail as unknown as object[])[0]).toMatchObject({ loc, type });
    });

    test('returns 402 without a subscription', async () => {
      const poor = await signUp('personal');
      const { accessToken } = await connect(poor, app);
      expect(await chat(accessToken, 'Hello')).toMatchObject({
        status: 402,
        body: { detail: { code: 'subscription_inactive' } },
      });
    });

    test('returns 403 without the scope', async () => {
      const configuration = await discoverPartner(app);
      const request = await beginAuthorize(configuration, app, { scope: 'usage:read' });
      const tokens = await redeem(configuration, await decide(user, request, true), request);
      const answer = await chat(tokens.access_token, 'Hello');
      expect(answer).toMatchObject({ status: 403, body: { detail: { code: 'insufficient_scope' } } });
      expect(answer.headers.get('www-authenticate')).toContain('inference');
    });

    test('returns 429 for a third concurrent request', async () => {
      const patient = await signUp('personal');
      await subscribe(patient);
      const { accessToken } = await connect(patient, app);
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => chat(accessToken, 'Slowly. [[delay_ms=1500]]')),
      );
      const statuses = answers.map((answer) => answer.status).sort();
      expect(statuses).toEqual([200, 200, 429, 429, 429, 429]);
      const refused = answers.find((answer) => answer.status === 429);
      expect(refused?.body.detail.code).toBe('subscription_requests_pending');
      expect((await chat(accessToken, 'Now again.')).status).toBe(200);
    });

    test.each([
      ['[[status=503]]', 503, 'upstream_unavailable'],
      ['[[status=429]]', 503, 'upstream_unavailable'],
      ['[[status=500]]', 502, 'upstream_error'],
      ['[[status=401]]', 502, 'upstream_error'],
      ['[[status=400]]', 400, 'upstream_rejected'],
    ])('turns provider response %s into %i %s without a charge', async (directive, status, code) => {
      const answer = await chat(partner.accessToken, `Hello ${directive}`);
      expect(answer).toMatchObject({ status, body: { detail: { code } } });
      const id = answer.headers.get('x-request-id');
      const request = () => call('GET', `/v1/integrations/usage/requests/${id}`, { token: partner.accessToken });
      await expect.poll(async () => (await request()).body.state, { timeout: 5000 }).toBe('released');
    });

    test('sends an error instead of [DONE] if a stream is interrupted', async () => {
      const answer = await chat(partner.accessToken, 'Hello [[chunks=10]] [[drop_after=3]]', { stream: true });
      const data = sseData(answer.text);
      expect(data).not.toContain('[DONE]');
      expect(JSON.parse(String(data.at(-1)))).toHaveProperty('error.code');
    });

    test('returns 409 with the first request id for a repeated Idempotency-Key', async () => {
      const body = { messages: [{ role: 'user', content: 'Once only.' }] };
      const headers = { 'idempotency-key': randomUUID() };
      const path = '/v1/integrations/inference/chat/completions';
      const first = await call('POST', path, { token: partner.accessToken, body, headers });
      const second = await call('POST', path, { token: partner.accessToken, body, headers });
      expect(first.status).toBe(200);
      expect(second).toMatchObject({
        status: 409,
        body: {
          detail: { code: 'duplicate_request', request_id: first.headers.get('x-request-id'), state: 'settled' },
        },
      });
    });
  });

  describe('webhooks', () => {
    test.each([
      'http://partner.example/hook',
      'https://127.0.0.1/hook',
      'https://169.254.169.254/',
      'https://u:p@partner.example/',
      'https://[::1]/',
      'https://partner.example:80/',
    ])('are not sent to %s', async (url) => {
      const answer = await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
        token: business.token,
        body: { url },
      });
      expect(answer.status, answer.text).toBe(422);
      expect((answer.body.detail as unknown as object[])[0]).toMatchObject({
        loc: ['body', 'url'],
        type: 'value_error',
      });
    });

    test('are retried in order, with a fresh signature and the same body', async () => {
      const receiver = await startReceiver();
      const owner = await signUp('business');
      const { clientId } = await registerApp(owner);
      const path = `/v1/integrations/apps/${clientId}/webhook`;
      expect((await call('POST', `${path}/test`, { token: owner.token })).body.detail.code).toBe(
        'webhook_not_configured',
      );
      const configured = await call('PUT', path, { token: owner.token, body: { url: receiver.url } });
      receiver.answers.push(500, 302, 503);
      await call('POST', `${path}/test`, { token: owner.token });
      await call('POST', `${path}/test`, { token: owner.token });
      await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(5);
      expect(receiver.deliveries.map((each) => [each.event.sequence, each.answered])).toEqual([
        [1, 500],
        [1, 302],
        [1, 503],
        [1, 204],
        [2, 204],
      ]);
      const first = receiver.deliveries.slice(0, 4);
      expect(new Set(first.map((each) => each.rawBody)).size).toBe(1);
      for (const each of receiver.deliveries)
        expect(isSignedWith(each, String(configured.body.signing_secret))).toBe(true);
      const listed = () => call('GET', `${path}/events?limit=1`, { token: owner.token });
      await expect.poll(async () => (await listed()).body.data[0].status, { timeout: 5000 }).toBe('delivered');
      expect((await listed()).body).toMatchObject({
        has_more: true,
        data: [{ sequence: 2, status: 'delivered', attempts: 1 }],
      });
      await receiver.close();
    });
  });
});

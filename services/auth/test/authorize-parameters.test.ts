import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import {
  challengeOf,
  connect,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  postToken,
  type RegisteredApp,
  redeem,
  refresh,
  STATE,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let person: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  person = await newPerson(service);
  app = await newApp(service, owner);
});
afterAll(() => service.stop());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const authorizePath = (over: Record<string, string> = {}, resources: readonly string[] = []): string => {
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(newVerifier()),
    state: STATE,
    ...over,
  });
  for (const resource of resources) query.append('resource', resource);
  return `/v1/integrations/oauth/authorize?${query}`;
};

/** Returns the parameters that the browser brings to the app. */
const redirected = async (over: Record<string, string>, resources: readonly string[] = []) => {
  const answer = await call(`${service.url}${authorizePath(over, resources)}`);
  return { status: answer.status, ...parametersOf(answer.headers.get('location')) };
};

const parametersOf = (location: string | null | undefined): Record<string, string> => {
  const url = new URL(location ?? '');
  expect(url.origin + url.pathname).toBe(app.redirectUri);
  return Object.fromEntries(url.searchParams);
};

const push = (form: Record<string, string>) =>
  call(`${service.url}/v1/integrations/oauth/par`, {
    form: {
      client_id: app.clientId,
      client_secret: app.secret ?? '',
      response_type: 'code',
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      code_challenge_method: 'S256',
      state: STATE,
      ...form,
    },
  });

describe('scope', () => {
  test('RFC 6749 §3.3: ignores unknown scopes beside known ones, and the token response names the granted ones', async () => {
    const browser = newBrowser(service);
    const verifier = newVerifier();
    const over = { scope: 'openid usage:read email', code_challenge: challengeOf(verifier) };
    const page = await browser.open(authorizePath(over));
    const consent = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
    const decided = await browser.submit(consent, 'decision', { decision: 'approve' });
    const { code = '' } = parametersOf(decided.location);
    expect((await redeem(service, { app, code, verifier })).body).toMatchObject({ scope: 'usage:read' });
  });

  test('redirects with invalid_scope when no scope is known', async () => {
    const answer = await redirected({ scope: 'openid email' });
    expect(answer).toMatchObject({ status: 303, error: 'invalid_scope', state: STATE, iss: service.url });
  });

  test('a pushed request ignores unknown scopes beside known ones, and is refused when none is known', async () => {
    expect((await push({ scope: 'openid inference' })).status).toBe(201);
    const refused = await push({ scope: 'openid' });
    expect([refused.status, textAt(refused, 'error')]).toEqual([400, 'invalid_scope']);
  });
});

describe('language', () => {
  test.each([
    [{ ui_locales: 'fr-CA en-GB it' }, 'en'],
    [{ ui_locales: 'fr' }, 'it'],
    [{ ui_locales: 'en', locale: 'it' }, 'it'],
    [{}, 'it'],
  ])('%j shows the page in %s', async (over, locale) => {
    const page = await newBrowser(service).open(authorizePath(over));
    expect([page.status, page.headers.get('content-language')]).toEqual([200, locale]);
  });
});

describe('parameters that are not supported', () => {
  test.each([
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    [{ prompt: 'none login' }, 'invalid_request'],
  ])('%j redirects with %s', async (over, error) => {
    expect(await redirected(over)).toMatchObject({ status: 303, error, state: STATE, iss: service.url });
  });

  test('shows the page for response_mode=query', async () => {
    expect((await call(`${service.url}${authorizePath({ response_mode: 'query' })}`)).status).toBe(200);
  });

  test('shows an error page, and redirects nowhere, if the redirect URI is not registered', async () => {
    const over = { redirect_uri: 'https://evil.example/', response_mode: 'fragment', prompt: 'none' };
    const answer = await call(`${service.url}${authorizePath(over)}`);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });
});

describe('prompt=none', () => {
  const silent = { prompt: 'none' };

  test('redirects with login_required without a session', async () => {
    expect(await redirected(silent)).toMatchObject({ error: 'login_required', state: STATE });
  });

  test('redirects with consent_required if the connection lacks a scope, and with a code if it covers all', async () => {
    const user = await newPerson(service);
    await connect(service, { app, person: user, over: { scope: 'usage:read' } });
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath());
    await browser.submit(page, 'sign-in', { email: user.email, password: PASSWORD });
    const wider = await browser.openOnce(authorizePath(silent));
    expect([wider.status, parametersOf(wider.location)]).toMatchObject([303, { error: 'consent_required' }]);
    const verifier = newVerifier();
    const over = { ...silent, scope: 'usage:read', code_challenge: challengeOf(verifier) };
    const { code = '' } = parametersOf((await browser.openOnce(authorizePath(over))).location);
    expect((await redeem(service, { app, code, verifier })).body).toMatchObject({ scope: 'usage:read' });
  });

  test('leaves the scope of the connection as it was consented', async () => {
    const user = await newPerson(service);
    await connect(service, { app, person: user });
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath());
    await browser.submit(page, 'sign-in', { email: user.email, password: PASSWORD });
    await browser.openOnce(authorizePath({ ...silent, scope: 'inference' }));
    const list = await call(`${service.url}/v1/integrations/connections`, { token: user.token });
    expect(textAt(list, 'data', 0, 'scope')).toBe('inference usage:read');
  });

  test('redirects with consent_required after the user has disconnected the app', async () => {
    const user = await newPerson(service);
    await connect(service, { app, person: user });
    await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: user.token });
    const browser = newBrowser(service);
    const page = await browser.open(authorizePath());
    await browser.submit(page, 'sign-in', { email: user.email, password: PASSWORD });
    const answer = await browser.openOnce(authorizePath(silent));
    expect(parametersOf(answer.location)).toMatchObject({ error: 'consent_required' });
  });
});

describe('resource (RFC 8707)', () => {
  test('accepts both of our resources, and redirects with invalid_target for another', async () => {
    const own = [`${service.url}/v1`, `${service.url}/v1/integrations`];
    expect((await call(`${service.url}${authorizePath({}, own)}`)).status).toBe(200);
    expect(await redirected({}, [...own, 'https://other.example'])).toMatchObject({
      error: 'invalid_target',
      state: STATE,
    });
  });

  test('a pushed request and the token endpoint refuse another resource', async () => {
    expect((await push({ resource: `${service.url}/v1/integrations` })).status).toBe(201);
    const pushed = await push({ resource: 'https://other.example' });
    expect([pushed.status, textAt(pushed, 'error')]).toEqual([400, 'invalid_target']);
    const { refreshToken } = await connect(service, { app, person });
    const form = { grant_type: 'refresh_token', client_id: app.clientId, client_secret: app.secret ?? '' };
    const refused = await postToken(service, {
      ...form,
      refresh_token: refreshToken,
      resource: 'https://other.example',
    });
    expect([refused.status, textAt(refused, 'error')]).toEqual([400, 'invalid_target']);
    const taken = await postToken(service, {
      ...form,
      refresh_token: refreshToken,
      resource: `${service.url}/v1/integrations`,
    });
    expect(taken.status).toBe(200);
    expect((await refresh(service, { app, token: textAt(taken, 'refresh_token') })).status).toBe(200);
  });
});

describe('a malformed query', () => {
  const malformed = () => `${service.url}${authorizePath({ state: 'short', locale: 'en' })}`;

  test('shows a browser a page with status 422 that names the field but no sent value', async () => {
    const answer = await call(malformed(), { headers: { accept: BROWSER } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('state:');
    expect(answer.text).not.toContain('short');
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test.each(['application/json', '*/*', 'application/json, text/html;q=0.5'])(
    'returns 422 as JSON for Accept: %s',
    async (accept) => {
      const answer = await call(malformed(), { headers: { accept } });
      expect([answer.status, textAt(answer, 'detail', 0, 'loc', 1)]).toEqual([422, 'state']);
    },
  );
});

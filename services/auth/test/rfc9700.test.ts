import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
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
  REDIRECT_URI,
  type RegisteredApp,
  STATE,
} from './support/partner.ts';

/** Clauses of RFC 9700 that no other test file names. */

let service: AuthService;
let person: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  app = await newApp(service, await newPerson(service, 'business'));
  person = await newPerson(service);
});
afterAll(() => service.stop());

const authorizePath = (over: Record<string, string> = {}): string =>
  `/v1/integrations/oauth/authorize?${new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(newVerifier()),
    state: STATE,
    ...over,
  })}`;

/** A request with headers that fetch would not send. */
const rawGet = (
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string; all: string }> =>
  new Promise((resolve, reject) => {
    request(new URL(path, service.url), { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, all: text + JSON.stringify(response.headers) }),
      );
    })
      .on('error', reject)
      .end();
  });

test('§4.4: approval and denial name their issuer, against mix-up', async () => {
  for (const approved of [true, false]) {
    const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
      token: person.token,
      json: consentRequest(app, newVerifier(), { approved }),
    });
    expect(new URL(textAt(answer, 'redirect_to')).searchParams.get('iss')).toBe(service.url);
  }
});

test('§4.3.2: ignores a token in the query or body', async () => {
  const { accessToken } = await connect(service, { app, person });
  for (const token of [person.token, accessToken]) {
    const query = await call(`${service.url}/v1/console/session?access_token=${token}`);
    expect([query.status, textAt(query, 'detail', 'code')]).toEqual([401, 'not_authenticated']);
  }
  const body = await call(`${service.url}/v1/integrations/oauth/authorize`, {
    json: { ...consentRequest(app, newVerifier()), access_token: person.token },
  });
  expect(body.status).toBe(401);
});

test('§4.12: redirects every form with 303, so that no password is resent', async () => {
  const browser = newBrowser(service);
  const page = await browser.open(authorizePath());
  const signedIn = await browser.submitOnce(page, 'sign-in', { email: person.email, password: PASSWORD });
  const consent = await browser.open(signedIn.location ?? '');
  const decided = await browser.submitOnce(consent, 'decision', { decision: 'approve' });
  const signedOut = await browser.submitOnce(consent, 'sign-out');
  expect([signedIn.status, decided.status, signedOut.status]).toEqual([303, 303, 303]);
});

test('§2.6: allows no other origin to read the authorize pages and forms', async () => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  const paths = [authorizePath(), '/v1/integrations/oauth/interaction/sign-in', '/v1/integrations/oauth/consent'];
  for (const path of paths) {
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await call(`${service.url}${path}`, { method, headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  }
});

test('§4.13: puts no foreign host from a header into a response', async () => {
  const forged = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/evil.example',
    forwarded: 'host=evil.example;proto=https',
    'x-original-url': '/evil.example',
  };
  const paths = [
    ...[authorizePath(), authorizePath({ redirect_uri: 'https://other.example/' })],
    ...['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/v1/console/session'],
  ];
  for (const path of paths) expect((await rawGet(path, forged)).all).not.toContain('evil.example');
});

test('§4.11: redirects only to registered URIs, on approval, denial and error', async () => {
  const evil = [
    'https://evil.example/',
    `${REDIRECT_URI}/../evil`,
    `${REDIRECT_URI}?next=https://evil.example`,
    REDIRECT_URI.replace('app.example', 'app.example@evil.example'),
    REDIRECT_URI.replace('app.example', 'app.example.evil.example'),
    `${REDIRECT_URI}#`,
    'javascript:alert(1)',
    '//evil.example',
  ];
  for (const redirect_uri of evil) {
    const page = await newBrowser(service).openOnce(authorizePath({ redirect_uri }));
    expect([page.status, page.location]).toEqual([400, undefined]);
    for (const approved of [true, false]) {
      const answer = await call(`${service.url}/v1/integrations/oauth/authorize`, {
        token: person.token,
        json: consentRequest(app, newVerifier(), { redirect_uri, approved }),
      });
      expect(answer.status).toBe(422);
      expect(answer.text).not.toContain('redirect_to');
    }
  }
});

test('§4.16: no page can be framed or sends a referrer', async () => {
  const { headers } = await newBrowser(service).open(authorizePath());
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
import { newBrowser } from './support/browser.ts';
import { type Answer, call } from './support/http.ts';
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
  STATE,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner);
});
afterAll(() => service.stop());

const audit = (person: Person, query = '', clientId = app.clientId): Promise<Answer> =>
  call(`${service.url}/v1/integrations/connections/${clientId}/audit${query}`, { token: person.token });

interface Entry {
  readonly id: string;
  readonly action: string;
}
const entriesOf = (answer: Answer): Entry[] => {
  if (answer.status !== 200) throw new Error(`audit: ${answer.status} ${answer.text}`);
  // The service checks its own answers against the contract in tests.
  return (answer.body as { data: Entry[] }).data;
};
const consent = (person: Person, from: string, scope = 'inference') =>
  call(`${service.url}/v1/integrations/oauth/authorize`, {
    token: person.token,
    json: consentRequest(app, newVerifier(), { scope }),
    headers: { 'x-forwarded-for': from },
  });

test('success: returns pages of acts with actor, time and network, newest first', async () => {
  const person = await newPerson(service);
  await consent(person, '203.0.113.77');
  await consent(person, '2001:db8:1:2:3::4', 'usage:read');
  await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
  const answer = await audit(person);
  const common = {
    id: expect.stringMatching(/^aud_/),
    happened_at: expect.stringMatching(/Z$/),
    client_kind: 'console',
  };
  expect(answer.body).toEqual({
    has_more: false,
    data: [
      { ...common, action: 'disconnected', scope: null, network: '127.0.0.0/24' },
      { ...common, action: 'consented_again', scope: 'usage:read', network: '2001:db8:1::/48' },
      { ...common, action: 'connected', scope: 'inference', network: '203.0.113.0/24' },
    ],
  });
  expect(JSON.stringify(await service.database('connection_audit'))).not.toContain('203.0.113.77');

  const first = await audit(person, '?limit=2');
  expect(first.body).toMatchObject({ has_more: true });
  const rest = await audit(person, `?limit=2&after=${entriesOf(first)[1]?.id}`);
  expect(rest.body).toMatchObject({ has_more: false, data: [{ action: 'connected' }] });
});

test('success: records a consent on the page, a replayed code, a revocation by the app and a suspension', async () => {
  const other = await newApp(service, owner);
  const person = await newPerson(service);
  const browser = newBrowser(service);
  const query = new URLSearchParams({
    client_id: other.clientId,
    redirect_uri: other.redirectUri,
    code_challenge: challengeOf(newVerifier()),
    state: STATE,
  });
  const page = await browser.open(`/v1/integrations/oauth/authorize?${query}`);
  const asked = await browser.submit(page, 'sign-in', { email: person.email, password: PASSWORD });
  await browser.submit(asked, 'decision', { decision: 'approve' });
  const replayed = await connect(service, { app: other, person });
  await redeem(service, { app: other, code: replayed.code, verifier: replayed.verifier });
  const revoked = await connect(service, { app: other, person });
  await call(`${service.url}/v1/integrations/oauth/revoke`, {
    form: { client_id: other.clientId, token: revoked.refreshToken },
  });
  await call(`${service.url}/v1/integrations/apps/${other.clientId}`, { method: 'DELETE', token: owner.token });
  // The service's own worker may be at it already.
  await waitFor(async () => entriesOf(await audit(person, '', other.clientId)).length === 6);
  expect((await audit(person, '', other.clientId)).body).toMatchObject({
    data: [
      { action: 'app_suspended', client_kind: 'service', network: null },
      { action: 'revoked_by_app', client_kind: 'app', network: '127.0.0.0/24' },
      { action: 'consented_again', client_kind: 'console' },
      { action: 'token_reused', client_kind: 'app', network: '127.0.0.0/24' },
      { action: 'consented_again', client_kind: 'console' },
      { action: 'connected', client_kind: 'browser' },
    ],
  });
});

test('not found: for an empty trail and for another person’s', async () => {
  const person = await newPerson(service);
  const stranger = await newPerson(service);
  await consent(person, '203.0.113.1');
  expect((await audit(stranger)).status).toBe(404);
  expect((await audit(person, '', 'app_unknown')).status).toBe(404);
});

test('unauthenticated and invalid', async () => {
  const url = `${service.url}/v1/integrations/connections/${app.clientId}/audit`;
  expect((await call(url)).status).toBe(401);
  expect((await audit(await newPerson(service), '?limit=101')).status).toBe(422);
});

test('deletes entries after 400 days', async () => {
  const person = await newPerson(service);
  await consent(person, '203.0.113.1');
  const before = new Date(service.clock().getTime() - 401 * 86_400_000);
  await service.database('connection_audit').where({ user_id: person.userId }).update({ happened_at: before });
  await consent(person, '203.0.113.1');
  await tidyUpOf(service);
  expect(entriesOf(await audit(person)).map(({ action }) => action)).toEqual(['consented_again']);
});

import { newId } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { claimsOf, newApp, newPerson, PASSWORD, type Person } from './support/partner.ts';

const IDLE_MS = 600_000;
let service: AuthService;

beforeAll(async () => {
  service = await startAuthService({ SESSION_IDLE_SECONDS: String(IDLE_MS / 1_000) });
});
afterAll(() => service.stop());

const signIn = async (person: Person, userAgent: string): Promise<string> => {
  const answer = await call(`${service.url}/v1/console/sessions`, {
    json: { email: person.email, password: PASSWORD },
    headers: { 'user-agent': userAgent },
  });
  return textAt(answer, 'session_token');
};
const patch = (person: Person, json: object): Promise<Answer> =>
  call(`${service.url}/v1/console/account`, { method: 'PATCH', token: person.token, json });
const getSession = (token: string): Promise<Answer> => call(`${service.url}/v1/console/session`, { token });
const statusesOf = async (...tokens: string[]): Promise<number[]> =>
  (await Promise.all(tokens.map(getSession))).map(({ status }) => status);
const sessionIdOf = (token: string): string => claimsOf(token)['sid'] ?? '';
const endSessions = (token: string, id?: string): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions${id === undefined ? '' : `/${id}`}`, { method: 'DELETE', token });

describe('PATCH /v1/console/account', () => {
  test('changes the given fields and keeps the others', async () => {
    const person = await newPerson(service, 'business');
    const changed = await patch(person, { display_name: 'Ada', locale: 'en' });
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject({
      account: { display_name: 'Ada', locale: 'en', business_name: 'Acme', email_verified: false },
    });
    await patch(person, { display_name: null, business_name: 'Acme Two' });
    expect((await getSession(person.token)).body).toMatchObject({
      account: { display_name: null, locale: 'en', business_name: 'Acme Two' },
    });
  });

  test('returns 422 for a business name on a personal account, and for an unknown field', async () => {
    const person = await newPerson(service);
    expect(await patch(person, { business_name: 'Acme' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'business_name'], type: 'value_error' }] },
    });
    expect((await patch(person, { email: 'other@example.com' })).status).toBe(422);
    expect((await patch(person, { locale: 'de' })).status).toBe(422);
  });
});

describe('POST /v1/console/account/upgrade', () => {
  test('gives the new token the rights of a business, and keeps the session', async () => {
    const person = await newPerson(service);
    const other = await signIn(person, 'another device');
    const answer = await call(`${service.url}/v1/console/account/upgrade`, {
      token: person.token,
      json: { business_name: 'Acme' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ account: { account_type: 'business', business_name: 'Acme' } });
    const token = textAt(answer, 'session_token');
    expect(sessionIdOf(token)).toBe(sessionIdOf(person.token));
    await newApp(service, { ...person, token });
    const apps = (of: string) => call(`${service.url}/v1/integrations/apps`, { token: of });
    expect((await apps(other)).status).toBe(403);
    const cookies = answer.headers.getSetCookie();
    expect(cookies).toEqual([
      expect.stringMatching(`^svc_session=${token};`),
      expect.stringMatching(`^svc_console=${token};`),
    ]);
    const renewed = await call(`${service.url}/v1/console/session/resume`, {
      method: 'POST',
      headers: { cookie: `svc_console=${other}`, origin: service.url },
    });
    expect((await apps(textAt(renewed, 'session_token'))).status).toBe(200);
  });
});

describe('/v1/console/sessions', () => {
  test('lists the sessions of the account with device, network and last use', async () => {
    const person = await newPerson(service);
    const phone = await signIn(person, 'Phone/1.0');
    const { body } = await call(`${service.url}/v1/console/sessions`, { token: phone });
    expect(body).toMatchObject({
      data: [
        { id: sessionIdOf(phone), user_agent: 'Phone/1.0', source: '127.0.0.0/24', is_current: true },
        { id: sessionIdOf(person.token), is_current: false },
      ],
    });
  });

  test('DELETE ends one session and revokes it, and returns 404 for a session of another account', async () => {
    const person = await newPerson(service);
    const stranger = await newPerson(service);
    const phone = await signIn(person, 'Phone/1.0');
    const id = sessionIdOf(phone);
    expect((await endSessions(stranger.token, id)).status).toBe(404);
    expect((await endSessions(person.token, newId('ses'))).status).toBe(404);
    expect((await endSessions(person.token, id)).status).toBe(204);
    expect(await statusesOf(phone, person.token)).toEqual([401, 200]);
    expect(await service.outbox(`revocation:session.${id}`)).toHaveLength(1);
  });

  test('DELETE without an id ends all sessions of the account except the current one', async () => {
    const person = await newPerson(service);
    const stranger = await newPerson(service);
    const phone = await signIn(person, 'Phone/1.0');
    const tablet = await signIn(person, 'Tablet/1.0');
    expect((await endSessions(tablet)).status).toBe(204);
    expect(await statusesOf(person.token, phone, tablet, stranger.token)).toEqual([401, 401, 200, 200]);
    for (const token of [person.token, phone])
      expect(await service.outbox(`revocation:session.${sessionIdOf(token)}`)).toHaveLength(1);
  });
});

describe('SESSION_IDLE_SECONDS', () => {
  test('ends a session that is idle for that long, but not one in use', async () => {
    const person = await newPerson(service);
    const idle = await signIn(person, 'Phone/1.0');
    for (let step = 0; step < 3; step += 1) {
      service.clock.advanceMs(IDLE_MS * 0.4);
      expect(await statusesOf(person.token)).toEqual([200]);
    }
    expect(await statusesOf(idle)).toEqual([401]);
    const listed = await call(`${service.url}/v1/console/sessions`, { token: person.token });
    expect(listed.body).toMatchObject({ data: [{ id: sessionIdOf(person.token) }] });
  });

  test('limits the life of a token to half of it, so that other services refuse tokens of idle sessions', async () => {
    const person = await newPerson(service);
    const { exp, iat } = claimsOf(person.token);
    expect(Number(exp) - Number(iat)).toBe(IDLE_MS / 2_000);
  });
});

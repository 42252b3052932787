import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call } from './support/http.ts';
import { challengeOf, newApp, newPerson, newVerifier, PASSWORD, type Person, STATE } from './support/partner.ts';

describe('cookies under an https base URL', () => {
  let service: AuthService;
  let person: Person;
  beforeAll(async () => {
    service = await startAuthService({ PUBLIC_BASE_URL: 'https://svc.example' });
    person = await newPerson(service, 'business');
  });
  afterAll(() => service.stop());

  const signIn = (): Promise<Answer> =>
    call(`${service.url}/v1/console/sessions`, { json: { email: person.email, password: PASSWORD } });
  const resume = (cookie: string): Promise<Answer> =>
    call(`${service.url}/v1/console/session/resume`, { method: 'POST', headers: { cookie } });

  test('carry the prefix __Host- with its required attributes', async () => {
    const session = (await signIn()).headers.getSetCookie();
    const app = await newApp(service, person);
    const query = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(newVerifier()),
      state: STATE,
    });
    const page = (await call(`${service.url}/v1/integrations/oauth/authorize?${query}`)).headers.getSetCookie();
    const cookies = [...session, ...page];
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual([
      '__Host-svc_session',
      '__Host-svc_console',
      '__Host-svc_signed_in',
      '__Host-svc_device',
      '__Host-svc_browser',
    ]);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=(Lax|Strict); Secure$/);
    }
  });

  test('are not read without the prefix, because a neighbor domain could set them', async () => {
    const token = /__Host-svc_console=([^;]+)/.exec((await signIn()).headers.getSetCookie().join('\n'))?.[1] ?? '';
    expect((await resume(`__Host-svc_console=${token}`)).status).toBe(200);
    expect((await resume(`svc_console=${token}`)).status).toBe(401);
  });
});

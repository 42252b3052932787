import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import {
  approve,
  connect,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
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

describe('redeeming a code', () => {
  test('answers the tokens of spec 2.3, not to be stored', async () => {
    const verifier = newVerifier();
    const code = await approve(service, { app, person, verifier });
    const answer = await redeem(service, { app, code, verifier });
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
  });

  test('RFC 9068 §2: the access token is an at+jwt of the published keys', async () => {
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

  test('refresh rotates', async () => {
    const { refreshToken } = await connect(service, { app, person });
    const answer = await refresh(service, { app, token: refreshToken });
    expect(answer.body).toMatchObject({ svc_user_id: person.userId, refresh_token: expect.stringMatching(/^svc_rt_/) });
    expect(answer.text).not.toContain(refreshToken);
  });
});

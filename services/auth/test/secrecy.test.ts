import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import { challengeOf, connect, newApp, newPerson, newVerifier, redeem, refresh } from './support/partner.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

/** Every value of every row, as text; bytes in each of their usual spellings. */
const everyValue = async (): Promise<string> => {
  const tables: { rows: { name: string }[] } = await service.database.raw(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const parts: string[] = [];
  for (const { name } of tables.rows) {
    for (const row of await service.database(name)) {
      for (const value of Object.values(row)) {
        if (Buffer.isBuffer(value))
          parts.push(value.toString('latin1'), value.toString('hex'), value.toString('base64'));
        else parts.push(typeof value === 'string' ? value : JSON.stringify(value));
      }
    }
  }
  return parts.join('\n');
};

test('stores and logs no password, token, code, secret, verifier or cookie', async () => {
  const owner = await newPerson(service, 'business');
  const app = await newApp(service, owner, { client_type: 'confidential' });
  const email = newEmail();
  const password = 'canary passphrase of a person';
  const browser = newBrowser(service);
  const verifier = newVerifier();
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    code_challenge: challengeOf(verifier),
    state: 'canary-state-0123456789',
  });
  const page = await browser.open(`/v1/integrations/oauth/authorize?${query}&prompt=create`);
  const consent = await browser.submit(page, 'sign-up', { email, password });
  const answered = await browser.submit(consent, 'decision', { decision: 'approve' });
  const code = new URL(answered.location ?? '').searchParams.get('code') ?? '';
  const tokens = await redeem(service, { app, code, verifier });
  const next = await refresh(service, { app, token: textAt(tokens, 'refresh_token') });
  const session = await call(`${service.url}/v1/console/sessions`, { json: { email, password } });
  await call(`${service.url}/v1/console/sessions`, { json: { email, password: 'wrong canary passphrase' } });
  await refresh(service, { app: { ...app, secret: 'svc_cs_wrong_canary' }, token: textAt(next, 'refresh_token') });
  const rotated = await call(`${service.url}/v1/integrations/apps/${app.clientId}/rotate-secret`, {
    method: 'POST',
    token: owner.token,
  });
  await connect(service, { app: { ...app, secret: textAt(rotated, 'client_secret') }, person: owner });
  const replay = await redeem(service, { app: { ...app, secret: textAt(rotated, 'client_secret') }, code, verifier });
  expect(replay.status).toBe(400);

  const canaries = [
    password,
    'wrong canary passphrase',
    'svc_cs_wrong_canary',
    code,
    verifier,
    app.secret,
    textAt(rotated, 'client_secret'),
    textAt(tokens, 'access_token'),
    textAt(tokens, 'refresh_token'),
    textAt(next, 'refresh_token'),
    textAt(session, 'session_token'),
    browser.cookies.get('svc_session'),
    browser.cookies.get('svc_browser'),
    service.environment['AUTH_ENCRYPTION_KEY'],
  ];
  const rows = await everyValue();
  const logs = service.logs();
  expect(logs).toContain('issueToken');
  for (const canary of canaries) {
    expect(canary?.length).toBeGreaterThan(10);
    expect(rows).not.toContain(canary);
    expect(logs).not.toContain(canary);
  }
  for (const hidden of [email, 'canary-state', 'svc_ac_', 'svc_rt_', 'eyJ']) expect(logs).not.toContain(hidden);
});

import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Client } from './http.ts';

/** The contract requires at least 16 characters. */
export const STATE = 'the-state-of-a-benchmark';
const PASSWORD = 'a rather long passphrase';
/** Redirect URI of the measured app; the host does not exist. */
export const REDIRECT_URI = 'https://partner.example/callback';
/** RFC 7636: one pair serves all codes, since creating pairs is not measured. */
const VERIFIER = randomBytes(32).toString('base64url');
export const CHALLENGE = hash('sha256', VERIFIER, 'base64url');

/** An account with a session. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly session: string;
}

/** A registered app. */
export interface App {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Signs up and signs in, each user from a different address because of the throttle per address. */
export const signUp = async (auth: Client, accountType: 'personal' | 'business'): Promise<Person> => {
  const email = `${randomUUID()}@example.com`;
  const account = { email, password: PASSWORD, account_type: accountType };
  const json = accountType === 'business' ? { ...account, business_name: 'Example' } : account;
  const created = await auth.expect(201, { method: 'POST', path: '/v1/console/accounts', json, headers: from() });
  return { userId: created.field('account.svc_user_id'), email, session: await signIn(auth, email) };
};

/** Creates another session of a user. */
export const signIn = async (auth: Client, email: string): Promise<string> => {
  const json = { email, password: PASSWORD };
  const answer = await auth.expect(201, { method: 'POST', path: '/v1/console/sessions', json, headers: from() });
  return answer.field('session_token');
};

/** Registers a confidential app, with further settings. */
export const registerApp = async (auth: Client, business: Person, settings: object = {}): Promise<App> => {
  const json = { name: 'Bench', redirect_uris: [REDIRECT_URI], client_type: 'confidential', ...settings };
  const answer = await auth.expect(201, {
    method: 'POST',
    path: '/v1/integrations/apps',
    token: business.session,
    json,
  });
  return { clientId: answer.field('client_id'), clientSecret: answer.field('client_secret') };
};

/** Consents and returns the code. */
export const consent = async (auth: Client, person: Person, app: App): Promise<string> => {
  const answer = await auth.expect(200, {
    method: 'POST',
    path: '/v1/integrations/oauth/authorize',
    token: person.session,
    json: {
      client_id: app.clientId,
      redirect_uri: REDIRECT_URI,
      scope: 'inference usage:read',
      state: STATE,
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      approved: true,
    },
  });
  return new URL(answer.field('redirect_to')).searchParams.get('code') ?? '';
};

/** Calls the token endpoint of either side. */
export const askForTokens = async (server: Client, app: App, grant: Readonly<Record<string, string>>) => {
  const form = { client_id: app.clientId, client_secret: app.clientSecret, ...grant };
  const answer = await server.expect(200, { method: 'POST', path: '/v1/integrations/oauth/token', form });
  return { accessToken: answer.field('access_token'), refreshToken: answer.field('refresh_token') };
};

/** The grant of RFC 6749 section 4.1.3. */
export const codeGrant = (code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: REDIRECT_URI,
  code_verifier: VERIFIER,
});

const from = () => ({ 'x-forwarded-for': `10.${randomBytes(3).join('.')}` });

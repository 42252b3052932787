import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { call } from './api.ts';

/** A user with an account and a console session. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/** A registered app, with its secret if it is confidential. */
export interface RegisteredApp {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly redirectUri: string;
}

const PASSWORD = 'a rather long passphrase';

export const signUp = async (accountType: 'personal' | 'business'): Promise<Person> => {
  const email = `${accountType}-${randomUUID()}@example.com`;
  const business = accountType === 'business' ? { business_name: 'Example Business' } : {};
  const created = await call('POST', '/v1/console/accounts', {
    body: { email, password: PASSWORD, account_type: accountType, ...business },
  });
  expect(created.status, created.text).toBe(201);
  const session = await call('POST', '/v1/console/sessions', { body: { email, password: PASSWORD } });
  expect(session.status, session.text).toBe(201);
  return {
    userId: String(created.body.account.svc_user_id),
    email,
    password: PASSWORD,
    token: String(session.body.session_token),
  };
};

/** Registers an app for a business. */
export const registerApp = async (
  business: Person,
  clientType: 'public' | 'confidential' = 'confidential',
  redirectUri = 'https://partner.example/callback',
): Promise<RegisteredApp> => {
  const registered = await call('POST', '/v1/integrations/apps', {
    token: business.token,
    body: { name: 'Notes', redirect_uris: [redirectUri], client_type: clientType },
  });
  expect(registered.status, registered.text).toBe(201);
  const secret = registered.body.client_secret;
  return {
    clientId: String(registered.body.client_id),
    clientSecret: secret === undefined ? undefined : String(secret),
    redirectUri,
  };
};

/** Buys a plan through the sandbox checkout and returns the confirmed subscription. */
export const subscribe = async (person: Person, planId?: string): Promise<{ id: string; status: string }> => {
  const plans = await call('GET', '/v1/subscriptions/plans');
  const checkout = await call('POST', '/v1/subscriptions/checkout', {
    token: person.token,
    body: {
      plan_id: planId ?? plans.body.data[0].id,
      success_url: 'https://console.example/ok',
      cancel_url: 'https://console.example/no',
    },
  });
  expect(checkout.status, checkout.text).toBe(200);
  const paid = await call('POST', `/sandbox/payments/sessions/${checkout.body.session_id}/complete`);
  expect(paid.status, paid.text).toBe(200);
  const confirmed = await call('POST', '/v1/subscriptions/checkout/confirm', {
    token: person.token,
    body: { session_id: checkout.body.session_id },
  });
  expect(confirmed.status, confirmed.text).toBe(200);
  const { id, status } = confirmed.body.subscription;
  return { id: String(id), status: String(status) };
};

/** Pays 50 EUR into a user's wallet and returns a new API key. */
export const fundKey = async (person: Person): Promise<string> => {
  const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
  const topUp = await call('POST', '/v1/gateway/wallet/top-ups', {
    token: person.token,
    body: { amount_micros: 50_000_000, ...urls },
  });
  expect(topUp.status, topUp.text).toBe(200);
  await call('POST', `/sandbox/payments/sessions/${topUp.body.session_id}/complete`);
  const confirmed = await call('POST', '/v1/subscriptions/checkout/confirm', {
    token: person.token,
    body: { session_id: topUp.body.session_id },
  });
  expect(confirmed.status, confirmed.text).toBe(200);
  const key = await call('POST', '/v1/gateway/keys', { token: person.token, body: { name: 'Test' } });
  expect(key.status, key.text).toBe(201);
  return String(key.body.key);
};

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@svc/testing';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Base URL of the gateway, as clients are configured with it. */
    baseUrl: string;
    apiKey: string;
  }
}

const PASSWORD = 'violet kettle marches north';
const TOP_UP_MICROS = 50_000_000;

/** Starts the product and buys balance for one API key. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-compatibility-'));
  const stack = await startStack(folder, { PORT: '0', SAMPLE_PARTNER: 'off' });
  project.provide('baseUrl', `${stack.baseUrl}/v1`);
  project.provide('apiKey', await buyKey(stack.baseUrl));
  return async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  };
};

const buyKey = async (origin: string): Promise<string> => {
  const post = async (path: string, body: object, token = ''): Promise<Record<string, string>> => {
    const response = await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const email = 'customer@example.com';
  await post('/v1/console/accounts', { email, password: PASSWORD, account_type: 'personal' });
  const { session_token } = await post('/v1/console/sessions', { email, password: PASSWORD });
  const urls = { success_url: `${origin}/wallet`, cancel_url: `${origin}/wallet` };
  const topUp = { amount_micros: TOP_UP_MICROS, ...urls };
  const { session_id } = await post('/v1/gateway/wallet/top-ups', topUp, session_token);
  await post(`/sandbox/payments/sessions/${session_id}/complete`, {});
  await post('/v1/subscriptions/checkout/confirm', { session_id }, session_token);
  const { key } = await post('/v1/gateway/keys', { name: 'compatibility' }, session_token);
  if (key === undefined) throw new Error('no key was created');
  return key;
};

import { readStackFile } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { connect } from './support/partner.ts';
import { fundKey, type Person, type RegisteredApp, registerApp, signUp } from './support/people.ts';
import { processIdOf } from './support/services.ts';

/** From the answer of a revocation to the first refusal, with NATS or without. */
const REFUSED_WITHIN_MS = 3_000;
/** A service asks about a credential once in this time. */
const ANSWER_HOLDS_MS = 1_100;
const ACCESS_TOKEN_PATHS = ['/v1/integrations/usage', '/v1/integrations/inference/capabilities'];
const SESSION_PATHS = ['/v1/gateway/wallet', '/v1/gateway/keys'];

const signal = async (name: string, code: NodeJS.Signals) => process.kill(await processIdOf(name), code);
const statusOf = async (path: string, token: string) => (await call('GET', path, { token })).status;
const isAccepted = async (path: string, token: string) => (await statusOf(path, token)) !== 401;
const expectRefused = (paths: readonly string[], token: string) =>
  Promise.all(
    paths.map((path) => expect.poll(() => isAccepted(path, token), { timeout: REFUSED_WITHIN_MS }).toBe(false)),
  );
const metric = async (service: string, name: string): Promise<number> => {
  const { processes } = await readStackFile(inject('dataDir'));
  const text = await (await fetch(`${processes[service]?.internal_url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)?.[1]);
};
const SERVICES = ['billing', 'inference-gateway', 'webhook-dispatcher'];
const expectConnected = async (value: 0 | 1) => {
  for (const service of SERVICES) {
    await expect.poll(() => metric(service, 'revocations_connected'), { timeout: 30_000 }).toBe(value);
  }
};

describe('while NATS hangs', () => {
  let business: Person;
  let app: RegisteredApp;
  let users: Person[];
  let tokens: string[];
  let key: string;

  beforeAll(async () => {
    [business, ...users] = await Promise.all([signUp('business'), signUp('personal'), signUp('personal')]);
    app = await registerApp(business);
    tokens = await Promise.all(users.map(async (user) => (await connect(user, app)).accessToken));
    key = await fundKey(business);
    for (const token of tokens) {
      for (const path of ACCESS_TOKEN_PATHS) expect(await isAccepted(path, token)).toBe(true);
    }
    expect(await isAccepted('/v1/models', key)).toBe(true);
    await signal('nats', 'SIGSTOP');
  });
  afterAll(() => signal('nats', 'SIGCONT'));

  test('refuses the tokens of a user who disconnects the app', async () => {
    const [user, other] = users;
    const [token = '', others = ''] = tokens;
    const answer = await call('DELETE', `/v1/integrations/connections/${app.clientId}`, { token: user?.token ?? '' });
    expect(answer.status).toBe(204);
    await expectRefused(ACCESS_TOKEN_PATHS, token);
    for (const path of ACCESS_TOKEN_PATHS) expect(await isAccepted(path, others)).toBe(true);
    for (const path of SESSION_PATHS) expect(await isAccepted(path, other?.token ?? '')).toBe(true);
  });

  test('refuses the session of a person who signs out', async () => {
    const person = await signUp('business');
    const webhook = `/v1/integrations/apps/${app.clientId}/webhook`;
    for (const path of [...SESSION_PATHS, webhook]) expect(await isAccepted(path, person.token)).toBe(true);
    expect((await call('DELETE', '/v1/console/session', { token: person.token })).status).toBe(204);
    await expectRefused([...SESSION_PATHS, webhook], person.token);
  });

  test('refuses an API key that is deleted', async () => {
    const { body } = await call('GET', '/v1/gateway/keys', { token: business.token });
    const path = `/v1/gateway/keys/${body.data[0].id}`;
    expect((await call('DELETE', path, { token: business.token })).status).toBe(204);
    await expectRefused(['/v1/models'], key);
  });

  test('refuses the tokens of an app that is deactivated', async () => {
    const path = `/v1/integrations/apps/${app.clientId}`;
    expect((await call('PATCH', path, { token: business.token, body: { active: false } })).status).toBe(200);
    await expectRefused(ACCESS_TOKEN_PATHS, tokens[1] ?? '');
  });

  test('goes on with the known revocations while auth hangs too, and counts that', async () => {
    const person = await signUp('personal');
    await expectConnected(0);
    expect(await statusOf('/v1/gateway/wallet', person.token)).toBe(200);
    const before = await metric('billing', 'revocations_unchecked_total');
    await signal('auth', 'SIGSTOP');
    try {
      await new Promise((resolve) => setTimeout(resolve, ANSWER_HOLDS_MS));
      expect(await statusOf('/v1/gateway/wallet', person.token)).toBe(200);
      expect(await metric('billing', 'revocations_unchecked_total')).toBeGreaterThan(before);
      expect(await isAccepted('/v1/gateway/keys', person.token)).toBe(true);
      expect(await isAccepted(ACCESS_TOKEN_PATHS[0] ?? '', tokens[0] ?? '')).toBe(false);
    } finally {
      await signal('auth', 'SIGCONT');
    }
  });

  test('asks no longer once NATS is back', async () => {
    await expectConnected(0);
    await signal('nats', 'SIGCONT');
    await expectConnected(1);
    for (const token of tokens) await expectRefused(ACCESS_TOKEN_PATHS, token);
    await expectRefused(['/v1/models'], key);
  });
});

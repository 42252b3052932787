import { newId } from '@svc/contracts';
import { createLifecycle, createLogger, loadConfig } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp } from '../src/app.ts';
import { configSchema } from '../src/config.ts';
import { providerKeysFrom } from '../src/provider-routes/index.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

/** A change of a key reaches every replica within this time, whether NATS delivers it or not. */
const WITHIN = { timeoutMs: 3_000 };

let gateway: TestGateway;
let replica: string;
let session: string;
const logger = createLogger({ service: 'inference-gateway', level: 'silent' });
const life = createLifecycle({ logger, shutdownGraceMs: 5_000 });

beforeAll(async () => {
  gateway = await startGateway({ canFail: true });
  const config = loadConfig(configSchema, gateway.environment);
  const providerKey = providerKeysFrom({ PROVIDER_KEY: 'the-key-of-the-provider' });
  ({ url: replica } = await startApp(life, { config, logger, providerKey, clock: Date.now }));
  session = await gateway.tokens.consoleSession({ userId: newId('usr') });
});
afterAll(async () => {
  await life.stop();
  await gateway.stop();
});

const manage = async (method: string, path: string, body: object = {}) => {
  const answer = await fetch(`${gateway.url}/v1/gateway/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    ...(method === 'DELETE' ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.ok, text).toBe(true);
  return text === '' ? {} : JSON.parse(text);
};
const statusAtReplica = async (key: string) =>
  (await fetch(`${replica}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;

test('another replica refuses a deleted, a paused and a rotated key while NATS hangs and auth is away', async () => {
  const keys = await Promise.all(['deleted', 'paused', 'rotated', 'kept'].map((name) => manage('POST', '', { name })));
  const [deleted, paused, rotated, kept] = keys;
  for (const { key } of keys) expect(await statusAtReplica(key)).toBe(200);
  gateway.nats.hang();
  try {
    await manage('DELETE', `/${deleted.id}`);
    await manage('PATCH', `/${paused.id}`, { active: false });
    const { key: renewed } = await manage('POST', `/${rotated.id}/rotate`, { overlap_seconds: 0 });
    for (const { key } of [deleted, paused, rotated]) {
      await waitFor(async () => (await statusAtReplica(key)) === 401, WITHIN);
    }
    expect(await statusAtReplica(renewed)).toBe(200);
    expect(await statusAtReplica(kept.key)).toBe(200);
  } finally {
    gateway.nats.resume();
  }
});

import { randomBytes } from 'node:crypto';
import { newId, secretOperations } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayProcess, startProcess } from './support/gateway-process.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

const OLD = randomBytes(32).toString('base64');
const NEW = randomBytes(32).toString('hex');
let around: TestGateway;
let session: string;

beforeAll(async () => {
  around = await startGateway({ environment: { API_KEY_PEPPER: OLD } });
  session = await around.tokens.consoleSession({ userId: newId('usr') });
  // Only its surroundings are used.
  await around.stopService();
});
afterAll(() => around?.stop());

const start = (pepper: string, options?: { waits: boolean }) =>
  startProcess(
    { ...around.environment, PROVIDER_KEY: 'the-key-of-the-provider', LOG_LEVEL: 'warn', API_KEY_PEPPER: pepper },
    options,
  );
const post = async ({ url }: GatewayProcess, path: string, body: object) => {
  const headers = { authorization: `Bearer ${session}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as { id: string; key: string };
};
const reencrypt = async ({ internalUrl }: GatewayProcess) => {
  const token = internalCredential('operator');
  const client = createInternalClient({ baseUrl: internalUrl, token, timeoutMs: 10_000 });
  const { body } = await client.call(secretOperations.reencrypt['inference-gateway'], {}).finally(client.close);
  return body;
};

test('rotating API_KEY_PEPPER on two replicas under traffic refuses no key, used or not', async () => {
  const replicas = [await start(OLD), await start(OLD)];
  const current = (): GatewayProcess => {
    const [newest] = replicas.slice(-1);
    if (newest === undefined) throw new Error('no replica runs');
    return newest;
  };
  const accepted = new Map<string, number>();
  const add = (key: string) => accepted.set(key, 0);
  const created = await post(current(), '/v1/gateway/keys', { name: 'A key' });
  add(created.key);
  const unused = await post(current(), '/v1/gateway/keys', { name: 'Not used before the rotation' });
  const traffic = new AbortController();
  const using = (async () => {
    while (!traffic.signal.aborted) {
      for (const key of accepted.keys()) {
        const { status } = await fetch(`${current().url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
        expect(status).toBe(200);
        accepted.set(key, (accepted.get(key) ?? 0) + 1);
      }
    }
  })();
  const roll = async (pepper: string): Promise<void> => {
    for (let count = 0; count < 2; count += 1) {
      const next = await start(pepper);
      const [oldest] = replicas.splice(0, 1);
      replicas.push(next);
      // A key that the newest replica creates must hold in those that have not been restarted yet.
      const { id, key } = await post(next, '/v1/gateway/keys', { name: 'Meanwhile' });
      add(key);
      add((await post(next, `/v1/gateway/keys/${id}/rotate`, {})).key);
      const [other] = replicas;
      const answer = await fetch(`${other?.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status).toBe(200);
      await waitFor(() => [...accepted.values()].every((uses) => uses > 0));
      oldest?.signal('SIGTERM');
      expect(await oldest?.ended).toBe(0);
    }
  };
  await roll(`${OLD},${NEW}`);
  await roll(`${NEW},${OLD}`);
  await expect(reencrypt(current())).resolves.toMatchObject({ done: true });
  await roll(NEW);
  add(unused.key);
  await waitFor(() => [...accepted.values()].every((uses) => uses > 0));
  traffic.abort();
  await using;
  for (const replica of replicas) replica.signal('SIGTERM');
  await Promise.all(replicas.map(({ ended }) => ended));
}, 120_000);

test('a start with the wrong pepper fails and names the variable', async () => {
  const running = await start(OLD, { waits: false });
  expect(await running.ended).toBe(1);
  expect(running.output()).toMatch(/API_KEY_PEPPER lacks the key [0-9a-f]{16}, under which api_keys.hash holds values/);
});

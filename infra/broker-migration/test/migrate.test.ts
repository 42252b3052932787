import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectToBroker } from '@svc/messaging/broker';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MIGRATE = fileURLToPath(new URL('../src/migrate.ts', import.meta.url));
const run = promisify(execFile);

let nats: TestNats;
beforeAll(async () => {
  nats = await testNats({ own: true });
});
afterAll(() => nats.stop());

const migrate = (environment: Record<string, string>) =>
  run(process.execPath, [MIGRATE], { env: { PATH: process.env['PATH'], ...environment } });

test('creates missing streams and consumers, and logs them without the password', async () => {
  const connection = await connectToBroker({ url: nats.url, name: 'operator' });
  const manager = await connection.jetstreamManager();
  await manager.streams.delete('BILLING');
  const { stdout, stderr } = await migrate({ NATS_URL: nats.url });
  expect((await manager.consumers.info('BILLING', 'webhook-dispatcher_subscriptions')).name).toBeDefined();
  expect(stdout).toContain('broker: streams');
  expect(stdout + stderr).not.toContain(new URL(nats.url).password);
  await connection.close();
});

test('fails without permission to create streams, with the reason and without the password', async () => {
  const url = nats.urlOf('billing');
  const failure: { code: number; stderr: string } = await migrate({ NATS_URL: url }).then(
    () => expect.unreachable('it did not fail'),
    (error) => error,
  );
  expect(failure.code).toBe(1);
  expect(failure.stderr).toContain('Permissions Violation');
  expect(failure.stderr).not.toContain(new URL(url).password);
});

test('lists every fault of its environment', async () => {
  const failure = await migrate({ NATS_URL: 'http://nats', NATS_STREAM_REPLICAS: '9' }).catch((error) => error);
  expect(failure.stderr).toMatch(/NATS_URL: .*nats or tls/);
  expect(failure.stderr).toMatch(/NATS_STREAM_REPLICAS: .*from 1 to 5/);
});

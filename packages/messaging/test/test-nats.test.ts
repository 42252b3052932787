import { connect } from 'node:net';
import { freePort, waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { testNats } from '../src/testing/test-nats.ts';

/** Reads the first line that a NATS server sends, or undefined if none answers. */
const greeting = (url: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once('error', () => resolve(undefined));
  });

test('restarts, crashes and wipes keep the port', async () => {
  const nats = await testNats({ own: true });
  expect(await greeting(nats.url)).toMatch(/"jetstream":true/);
  await nats.restart();
  expect(await greeting(nats.url)).toMatch(/^INFO/);
  await nats.kill();
  expect(await greeting(nats.url)).toBeUndefined();
  await nats.start();
  await nats.wipe();
  expect(await greeting(nats.url)).toMatch(/^INFO/);
  await nats.stop();
  expect(await greeting(nats.url)).toBeUndefined();
});

test('two servers run side by side', async () => {
  const [one, two] = await Promise.all([testNats({ own: true }), testNats({ own: true })]);
  expect(one.url).not.toBe(two.url);
  await Promise.all([one.stop(), two.stop()]);
});

test('freePort returns a port that can be bound', async () => {
  expect(await freePort()).toBeGreaterThan(1023);
});

test('waitFor returns the value, or throws with the condition and its last error', async () => {
  const answers = [undefined, false, null, 'done'];
  expect(await waitFor(() => answers.shift())).toBe('done');
  expect(await waitFor(() => 0)).toBe(0);
  const failing = waitFor(
    () => {
      throw new Error('not yet');
    },
    { timeoutMs: 30 },
  );
  await expect(failing).rejects.toThrow(/Timed out after 30 ms waiting for .*not yet/s);
  await expect(failing).rejects.toMatchObject({ cause: new Error('not yet') });
});

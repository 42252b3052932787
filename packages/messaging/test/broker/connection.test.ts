import { captureLogs } from '@svc/testing';
import { freePort, type NatsServer, type ScratchDirectory, scratchDirectory, startNats } from '@svc/testing/servers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { brokerUrl, connectToBroker, renderAccounts } from '../../src/broker/index.ts';
import { connectMessaging } from '../../src/index.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
const RIGHT = 'the-right-password';

let scratch: ScratchDirectory;
let server: NatsServer | undefined;
let output = '';
beforeEach(async () => {
  scratch = await scratchDirectory();
  output = '';
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  scratch.remove();
});

const start = async (port: number, password: string): Promise<void> => {
  await server?.stop();
  server = await startNats({
    storeDir: `${scratch.path}/nats`,
    port,
    accounts: renderAccounts({ passwordOf: () => password }),
    onOutput: (text) => {
      output += text;
    },
  });
};

const refusals = (): number => output.split('authentication error').length - 1;

test('restores a connection once its refused credentials are accepted again', async () => {
  const port = await freePort();
  await start(port, RIGHT);
  const connection = await connectToBroker({ url: brokerUrl(`nats://127.0.0.1:${port}`, 'auth', RIGHT), name: 'auth' });
  await start(port, 'another-password');
  await vi.waitFor(() => expect(refusals()).toBeGreaterThan(2), PATIENCE);
  await start(port, RIGHT);
  await vi.waitFor(() => connection.rtt(), PATIENCE);
  await connection.close();
});

test('skips an unreachable server of a list', async () => {
  const away = await freePort();
  const port = await freePort();
  await start(port, RIGHT);
  const url = [away, port].map((each) => brokerUrl(`nats://127.0.0.1:${each}`, 'auth', RIGHT)).join(',');
  const connection = await connectToBroker({ url, name: 'auth' });
  expect(connection.getServer()).toBe(`127.0.0.1:${port}`);
  await connection.close();
});

test('fails with hosts, user and reason, and without the password, if no server answers', async () => {
  const url = brokerUrl(`nats://127.0.0.1:${await freePort()}`, 'auth', 'a-secret-password');
  const failure = await connectToBroker({ url, name: 'auth', connectTimeoutMs: 0 }).then(String, String);
  expect(failure).toMatch(/NATS_URL: cannot connect to NATS at 127\.0\.0\.1:\d+ as auth: CONNECTION_REFUSED/);
  expect(failure).not.toContain('a-secret-password');
});

test('reports the first failure while it waits for a server', async () => {
  const port = await freePort();
  const waiting = Promise.withResolvers<Error>();
  const url = brokerUrl(`nats://127.0.0.1:${port}`, 'auth', RIGHT);
  const connecting = connectToBroker({ url, name: 'auth', onWaiting: waiting.resolve });
  expect((await waiting.promise).message).toContain('as auth: CONNECTION_REFUSED');
  await start(port, RIGHT);
  await (await connecting).close();
});

test('fails at once if the credentials are wrong, or the user is that of another service', async () => {
  const port = await freePort();
  await start(port, RIGHT);
  const address = `nats://127.0.0.1:${port}`;
  const failure = await connectToBroker({ url: brokerUrl(address, 'auth', 'wrong-password'), name: 'auth' }).then(
    String,
    (error: Error) => String(error.stack),
  );
  expect(failure).toContain(`NATS_URL: cannot connect to NATS at 127.0.0.1:${port} as auth: 'Authorization Violation'`);
  expect(failure).not.toContain('wrong-password');
  const { logger } = captureLogs();
  const other = connectMessaging({ url: brokerUrl(address, 'billing', RIGHT), name: 'auth', logger });
  await expect(other).rejects.toThrow('NATS_URL: has the user billing, another service; expected auth');
});

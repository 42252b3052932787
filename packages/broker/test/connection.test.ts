import { freePort, type NatsServer, type ScratchDirectory, scratchDirectory, startNats } from '@svc/embedded-servers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { brokerUrl, connectToBroker, renderAccounts } from '../src/index.ts';

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

test('fails with the reason, and without the password, if credentials are wrong or no server answers', async () => {
  const away = await freePort();
  const port = await freePort();
  await start(port, RIGHT);
  const attempt = (address: string) =>
    connectToBroker({ url: brokerUrl(address, 'auth', 'wrong-password'), name: 'auth', connectTimeoutMs: 0 }).then(
      () => expect.unreachable('it connected'),
      (error: Error) => String(error.stack),
    );
  const failures = await Promise.all([attempt(`nats://127.0.0.1:${port}`), attempt(`nats://127.0.0.1:${away}`)]);
  expect(failures[0]).toContain('Authorization Violation');
  expect(failures[1]).toContain('CONNECTION_REFUSED');
  for (const failure of failures) expect(failure).not.toContain('wrong-password');
});

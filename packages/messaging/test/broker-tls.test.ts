import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { captureLogs, createTestAuthority, type TestAuthority, waitFor } from '@svc/testing';
import { type NatsServer, type ScratchDirectory, scratchDirectory, startNats } from '@svc/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokerUrl, migrateBroker, renderAccounts } from '../src/broker/index.ts';
import { connectMessaging, type Messaging, openRevocations } from '../src/index.ts';
import { certificateEnds } from './support/certificate-ends.ts';

const PASSWORD = 'password-of-the-tests';
const ACCOUNTS = renderAccounts({ passwordOf: () => PASSWORD });

let scratch: ScratchDirectory;
let directory: string;
let authority: TestAuthority;
let other: TestAuthority;
let servers: Record<'right' | 'misnamed' | 'expired', NatsServer>;
beforeAll(async () => {
  scratch = await scratchDirectory();
  directory = mkdtempSync(join(tmpdir(), 'svc-tls-'));
  [authority, other] = [await createTestAuthority(), await createTestAuthority()];
  servers = {
    right: await start('right', { names: ['localhost'] }),
    misnamed: await start('misnamed', { names: ['nats.elsewhere.test'] }),
    expired: await start('expired', { names: ['localhost'], expired: true }),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  scratch.remove();
  for (const each of [authority, other]) each.remove();
  rmSync(directory, { recursive: true });
});

const start = async (name: string, choices: Parameters<TestAuthority['issue']>[0]): Promise<NatsServer> => {
  const { cert, key } = await authority.issue(choices);
  const certFile = join(directory, `${name}.pem`);
  const keyFile = join(directory, `${name}.key`);
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return await startNats({ storeDir: `${scratch.path}/${name}`, accounts: ACCOUNTS, tls: { certFile, keyFile } });
};

const urlOf = (server: Pick<NatsServer, 'port'>, user: 'auth' | 'operator' = 'auth'): string =>
  brokerUrl(`nats://localhost:${server.port}`, user, PASSWORD);

const connect = async (server: Pick<NatsServer, 'port'>, caFile?: string): Promise<Messaging> =>
  await connectMessaging({
    url: urlOf(server),
    caFile,
    name: 'auth',
    logger: captureLogs().logger,
    connectTimeoutMs: 0,
  });

describe('with NATS_CA_FILE', () => {
  test('connects to a server with a certificate of that authority for its host name, and stays so over a restart', async () => {
    const { caFile } = authority;
    await migrateBroker({ url: urlOf(servers.right, 'operator'), caFile });
    const messaging = await connect(servers.right, caFile);
    expect(messaging.connection.info).toMatchObject({ tls_required: true });
    await messaging.jetstream.publish('auth.app.updated.v1', 'a fact');
    const view = await openRevocations(messaging, { sources: [] });
    await servers.right.stop();
    await waitFor(() => !messaging.isConnected());
    servers.right = await restart(servers.right);
    await waitFor(() => messaging.isConnected());
    await waitFor(() => messaging.jetstream.publish('auth.app.updated.v1', 'another'));
    await view.stop();
    await messaging.close();
  });

  test('reports when the certificate ends, and when it has ended', async () => {
    const DATABASE_URL = 'postgres://svc_test@127.0.0.1/without-tls';
    const endOf = async (server: NatsServer) => {
      const config = { DATABASE_URL, NATS_URL: urlOf(server), NATS_CA_FILE: authority.caFile };
      return (await certificateEnds(config)).seconds('broker');
    };
    expect(await endOf(servers.right)).toBeGreaterThan(0);
    expect(await endOf(servers.expired)).toBeLessThan(0);
  });

  test('refuses a certificate of another authority', async () => {
    await expect(connect(servers.right, other.caFile)).rejects.toThrow('certificate signature failure');
  });

  test('refuses a certificate for another host name', async () => {
    await expect(connect(servers.misnamed, authority.caFile)).rejects.toThrow(/nats\.elsewhere\.test/);
  });

  test('refuses an expired certificate', async () => {
    await expect(connect(servers.expired, authority.caFile)).rejects.toThrow(/expired/);
  });

  test('refuses a server that offers no TLS before it sends a byte', async () => {
    const received: Buffer[] = [];
    const impostor = createServer((socket) => {
      socket.on('data', (data) => received.push(data)).on('error', () => undefined);
      socket.write('INFO {"server_id":"impostor","version":"2.14.0","proto":1,"max_payload":1048576}\r\n');
    }).listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    // Only the port of an address that was listened on is a number.
    const { port } = impostor.address() as AddressInfo;
    await expect(connect({ port }, authority.caFile)).rejects.toMatchObject({ cause: { code: 'SERVER_OPT_NA' } });
    expect(received).toEqual([]);
    impostor.close();
  });
});

test('without NATS_CA_FILE, a certificate that the system does not trust is refused too', async () => {
  await expect(connect(servers.right)).rejects.toThrow(/unable to verify|self-signed/);
});

const restart = async ({ port }: NatsServer): Promise<NatsServer> => {
  const tls = { certFile: join(directory, 'right.pem'), keyFile: join(directory, 'right.key') };
  return await startNats({ storeDir: `${scratch.path}/right`, accounts: ACCOUNTS, port, tls });
};

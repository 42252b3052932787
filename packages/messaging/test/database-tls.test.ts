import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, migrate, openSession } from '@svc/database';
import { captureLogs, createTestAuthority, type TestAuthority, waitFor } from '@svc/testing';
import { type PostgresServer, type ScratchDirectory, scratchDirectory, startPostgres } from '@svc/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMessaging, startRelay } from '../src/index.ts';
import { type TestNats, testNats } from '../src/testing/test-nats.ts';
import { certificateEnds } from './support/certificate-ends.ts';

const DAY_SECONDS = 86_400;
const MIGRATIONS = `${import.meta.dirname}/migrations`;

let scratch: ScratchDirectory;
let authority: TestAuthority;
let other: TestAuthority;
let nats: TestNats;
/** Its certificate is for the host name `localhost` and for no address. */
let named: PostgresServer;
/** Its certificate is for the address 127.0.0.1 and for no host name. */
let addressed: PostgresServer;
beforeAll(async () => {
  scratch = await scratchDirectory();
  [authority, other, nats] = [await createTestAuthority(), await createTestAuthority(), await testNats()];
  named = await start('named', { names: ['localhost'] });
  addressed = await start('addressed', { addresses: ['127.0.0.1'] });
});
afterAll(async () => {
  await Promise.all([named.stop(), addressed.stop(), nats.stop()]);
  for (const each of [authority, other]) each.remove();
  scratch.remove();
});

const start = async (name: string, choices: Parameters<TestAuthority['issue']>[0]): Promise<PostgresServer> => {
  const options = { dataDir: `${scratch.path}/${name}`, user: 'svc_test', password: 'only-for-tests' };
  await (await startPostgres(options)).stop();
  const { cert, key } = await authority.issue({ ...choices, days: 30 });
  const { uid, gid } = statSync(options.dataDir);
  // The names that PostgreSQL looks for in its data directory.
  for (const [file, text] of [
    ['server.crt', cert],
    ['server.key', key],
  ] as const) {
    writeFileSync(join(options.dataDir, file), text, { mode: 0o600 });
    chownSync(join(options.dataDir, file), uid, gid);
  }
  return await startPostgres({ ...options, flags: { ssl: 'on', fsync: 'off' } });
};

/** Returns the server's URL with its host name or its address. */
const urlBy = (host: 'localhost' | '127.0.0.1', { url }: PostgresServer): string => url.replace('127.0.0.1', host);

/** Returns true if the server sees TLS on a connection of the pool. */
const isEncrypted = async (url: string, caFile?: string): Promise<boolean> => {
  const database = createDatabase(url, { caFile, poolMax: 1 });
  try {
    const { rows } = await database.raw('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0].ssl;
  } finally {
    await database.destroy();
  }
};

describe('with DATABASE_CA_FILE', () => {
  test('reports when the certificate of the first server or its authority ends', async () => {
    const [, plain = ''] = /@([^/]+)/.exec(nats.url) ?? [];
    const { seconds, logs } = await certificateEnds({
      // The second server is no PostgreSQL, and so has no certificate.
      DATABASE_URL: urlBy('localhost', named).replace(/localhost:\d+/, `$&,${plain}`),
      DATABASE_CA_FILE: authority.caFile,
      NATS_URL: nats.url,
    });
    // The authority of the tests ends after a day, its certificate later.
    expect(seconds('database')).toBeLessThanOrEqual(DAY_SECONDS);
    expect(seconds('database')).toBeGreaterThan(DAY_SECONDS / 2);
    expect([seconds('broker'), seconds('entrance')]).toEqual([undefined, undefined]);
    expect(logs.entries.map(({ level, fields }) => [level, fields['host']])).toEqual([['warn', '127.0.0.1']]);
  });

  test('encrypts and verifies connections to a host name and to an address', async () => {
    const { caFile } = authority;
    expect(await isEncrypted(urlBy('localhost', named), caFile)).toBe(true);
    expect(await isEncrypted(urlBy('127.0.0.1', addressed), caFile)).toBe(true);
    expect(await isEncrypted(urlBy('localhost', named))).toBe(false);
  });

  test('covers migrations and the connection of the relay', async () => {
    const { caFile } = authority;
    const url = urlBy('localhost', named);
    expect(await migrate({ url, caFile, directory: MIGRATIONS })).toHaveLength(1);
    const messaging = await connectMessaging({ url: nats.urlOf('auth'), name: 'auth', logger: captureLogs().logger });
    const relay = startRelay({ databaseUrl: url, databaseCaFile: caFile, messaging, service: 'auth' });
    await waitFor(() => relay.isLeading());
    const database = createDatabase(url, { caFile, poolMax: 1 });
    const { rows } = await database.raw(
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'auth-relay'",
    );
    expect(rows).toEqual([{ ssl: true }]);
    await relay.stop();
    await database.destroy();
    await messaging.close();
  });

  const failures = async (url: string, caFile: string): Promise<string[]> => {
    const attempts = [
      isEncrypted(url, caFile),
      openSession(url, { caFile }),
      migrate({ url, caFile, directory: MIGRATIONS }),
    ];
    const results = await Promise.allSettled(attempts);
    return results.map((result) => (result.status === 'rejected' ? String(result.reason.message) : 'connected'));
  };

  test('refuses a certificate of another authority, in pools, sessions and migrations', async () => {
    for (const failure of await failures(urlBy('localhost', named), other.caFile)) {
      expect(failure).toMatch(/certificate signature failure$/);
    }
  });

  test.each([
    ['a certificate for a host name, reached by its address', '127.0.0.1', () => named],
    ['a certificate for an address, reached by a host name', 'localhost', () => addressed],
  ] as const)('refuses %s', async (_title, host, server) => {
    for (const failure of await failures(urlBy(host, server()), authority.caFile)) {
      expect(failure).toMatch(/does not match certificate|not in the cert/);
    }
  });

  test('refuses a server without TLS', async () => {
    const plain = await startPostgres({
      dataDir: `${scratch.path}/plain`,
      user: 'svc_test',
      password: 'only-for-tests',
    });
    for (const failure of await failures(plain.url, authority.caFile)) expect(failure).toMatch(/does not support SSL/);
    await plain.stop();
  });

  test.each(['sslmode=disable', 'ssl=false', 'sslmode=no-verify', 'sslrootcert=ca.pem'])(
    'refuses a URL whose %s would decide instead',
    (parameter) => {
      const options = { caFile: authority.caFile };
      expect(() => createDatabase(`${named.url}?${parameter}`, options)).toThrow(/beside a CA file/);
    },
  );
});

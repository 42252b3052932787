import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serviceNames as users } from '@svc/contracts';
import { type BrokerUser, brokerUsers, connectToBroker, jetStreamOptions, migrateBroker } from '@svc/messaging/broker';
import { locateNatsServer, scratchDirectory, startNats } from '@svc/testing/servers';
import { afterAll, describe, expect, test } from 'vitest';
import { fieldsAt, textAt } from '../src/kustomize/manifest.ts';
import { interpolate, readCompose } from './support/compose.ts';
import { containersOf, environmentOf, find, ofKind, overlay, overlayNames, workloads } from './support/overlays.ts';

const MIGRATION = 'broker-migration';
const directory = mkdtempSync(join(tmpdir(), 'svc-nats-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The broker configuration of one environment. */
interface Deployment {
  readonly files: Readonly<Record<string, string>>;
  /** The environment of the server. */
  readonly passwords: Readonly<Record<string, string>>;
  /** NATS_URL of each user. */
  readonly urlOf: (user: BrokerUser) => string;
}

const composed = (): Deployment => {
  const services = readCompose();
  const read = (path: string): string => readFileSync(new URL(`../../docker/${path}`, import.meta.url), 'utf8');
  const script = fileURLToPath(new URL('../../docker/make-env.sh', import.meta.url));
  const lines = execFileSync(script, { encoding: 'utf8' }).trim().split('\n');
  const variables = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
  const environmentOf = (name: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(services[name]?.environment ?? {}).map(([key, text]) => [key, interpolate(text, variables)]),
    );
  return {
    files: { 'nats.conf': read('nats/nats.conf'), 'accounts.conf': read('nats/generated/accounts.conf') },
    passwords: environmentOf('nats'),
    urlOf: (user) => environmentOf(user === 'operator' ? 'migrate-broker' : user)['NATS_URL'] ?? '',
  };
};

const inCluster = (): Deployment => {
  const manifests = overlay('local');
  const [data = {}] = ofKind(manifests, 'ConfigMap')
    .filter(({ metadata }) => metadata.name.startsWith('nats-'))
    .map((map) => fieldsAt(map, 'data'));
  const texts = (fields: object): Record<string, string> =>
    Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, String(text)]));
  return {
    files: texts(data),
    passwords: texts(fieldsAt(find(manifests, 'Secret', 'nats'), 'stringData')),
    urlOf: (user) =>
      textAt(find(manifests, 'Secret', user === 'operator' ? MIGRATION : user), 'stringData', 'NATS_URL'),
  };
};

describe.each([
  ['docker-compose.yml', composed],
  ['the local overlay', inCluster],
])('the broker of %s', (name, readDeployment) => {
  const { files, passwords, urlOf } = readDeployment();

  test('accepts its configuration', () => {
    const folder = mkdtempSync(join(directory, 'conf-'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const check = () =>
      execFileSync(locateNatsServer(), ['-t', '-c', join(folder, 'nats.conf')], { env: passwords, stdio: 'pipe' });
    expect(check).not.toThrow();
  });

  test('accepts each user with its URL, and lets the operator create the topology', async () => {
    const scratch = await scratchDirectory();
    const accounts = (files['accounts.conf'] ?? '').replaceAll(/\$(\w+_NATS_PASSWORD)/g, (_, variable: string) =>
      JSON.stringify(passwords[variable]),
    );
    const server = await startNats({ storeDir: `${scratch.path}/nats`, accounts });
    const localUrlOf = (user: BrokerUser): string => urlOf(user).replace('nats:4222', `127.0.0.1:${server.port}`);
    await migrateBroker({ url: localUrlOf('operator') });
    for (const user of users) {
      const url = localUrlOf(user);
      expect(new URL(url).username, name).toBe(user);
      const connection = await connectToBroker({ url, name: user });
      const manager = await connection.jetstreamManager({ ...jetStreamOptions({ url }), checkAPI: false });
      expect((await manager.streams.info('KV_revocations')).config.name).toBe('KV_revocations');
      await connection.close();
    }
    await server.stop();
    scratch.remove();
  });

  test('has a different password for each user', () => {
    const given = brokerUsers.map((user) => new URL(urlOf(user)).password);
    expect(new Set(given).size).toBe(brokerUsers.length);
    expect(given.toSorted()).toEqual(Object.values(passwords).toSorted());
  });
});

describe.each(overlayNames)('%s', (name) => {
  const manifests = overlay(name);

  test('gives each service its own credentials at NATS, and the operator’s to the migration alone', () => {
    const holders = workloads(manifests).flatMap((workload) =>
      containersOf(workload).flatMap((container) => {
        const value = environmentOf(manifests, container).get('NATS_URL');
        return value === undefined || !('secret' in value) ? [] : [[workload.metadata.name, value.secret]];
      }),
    );
    const expected = [...users, MIGRATION].map((user) => [user, user]);
    expect(holders.toSorted()).toEqual(expected.toSorted());
  });

  test('verifies PostgreSQL and NATS outside the cluster', () => {
    const isVerified = name !== 'local';
    for (const workload of workloads(manifests)) {
      for (const container of containersOf(workload)) {
        const environment = environmentOf(manifests, container);
        for (const [url, file] of [
          ['DATABASE_URL', 'DATABASE_CA_FILE'],
          ['NATS_URL', 'NATS_CA_FILE'],
        ] as const) {
          const mounted = { text: `/etc/svc/authorities/${url === 'NATS_URL' ? 'nats' : 'postgres'}.pem` };
          const expected = isVerified && environment.has(url) ? mounted : undefined;
          expect(environment.get(file), `${workload.metadata.name} ${file}`).toEqual(expected);
        }
      }
    }
  });
});

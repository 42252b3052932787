import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locateNatsServer } from '@svc/testing/servers';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { fieldsAt, listAt, type Manifest, textAt, toManifest, valueAt } from '../src/kustomize/manifest.ts';
import { parseDocuments } from '../src/kustomize/patches.ts';
import { render } from '../src/kustomize/render.ts';
import { cloudNativePg } from './support/cloudnative-pg.ts';
import { connectionsOf, RESERVED } from './support/connections.ts';
import { mayConnect, type Peer, podsOf } from './support/network.ts';
import { find, ofKind, overlay } from './support/overlays.ts';
import { typeErrors } from './support/typed-manifests.ts';

const NAMESPACE = 'svc-data';
const FOLDER = new URL('../overlays/data-stores/', import.meta.url);
const manifests = render(FOLDER);
const clusters = ofKind(manifests, 'Cluster');
const databases = (await connectionsOf(overlay('production'))).map(({ service, total }) => ({ service, total }));
const isTyped = ({ kind }: Manifest): boolean => cloudNativePg[kind] === undefined;

test('every object has only the fields of its kind', () => {
  expect(typeErrors(manifests.filter(isTyped))).toEqual([]);
  for (const { kind, metadata, spec } of manifests.filter((manifest) => !isTyped(manifest))) {
    expect(cloudNativePg[kind]?.safeParse(spec).error, `${kind} ${metadata.name}`).toBeUndefined();
  }
  const outside = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== NAMESPACE);
  expect(outside).toEqual([]);
});

test('kubectl kustomize renders the same', (context) => {
  const folder = fileURLToPath(FOLDER);
  const { stdout, status } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  if (status === null) {
    console.warn('NOT CHECKED: kubectl is missing, so it has not rendered the data stores.');
    context.skip();
  }
  expect(status).toBe(0);
  const byName = (all: readonly Manifest[]) =>
    Object.fromEntries(all.map((each) => [`${each.kind} ${each.metadata.name}`, each]));
  expect(byName(manifests)).toEqual(byName(parseDocuments(stdout, folder).map((each) => toManifest(each, folder))));
});

describe.each(databases)('the cluster of $service', ({ service, total }) => {
  const name = `postgres-${service}`;
  const cluster = find(manifests, 'Cluster', name);

  test('has a standby with every acknowledged commit, and connections for all replicas', () => {
    expect(valueAt(cluster, 'spec', 'instances')).toBe(3);
    expect(fieldsAt(cluster, 'spec', 'postgresql', 'synchronous')).toMatchObject({
      dataDurability: 'required',
      failoverQuorum: true,
    });
    const max = Number(valueAt(cluster, 'spec', 'postgresql', 'parameters', 'max_connections'));
    expect(max).toBeGreaterThanOrEqual(total + RESERVED);
  });

  test('archives WAL and base backups, from which it can be restored to any moment', () => {
    const [plugin] = listAt(cluster, 'spec', 'plugins');
    expect(plugin?.['isWALArchiver']).toBe(true);
    const store = find(manifests, 'ObjectStore', textAt(plugin, 'parameters', 'barmanObjectName'));
    const credentials = fieldsAt(store, 'spec', 'configuration', 's3Credentials');
    for (const key of Object.values(credentials)) {
      const secret = find(manifests, 'ExternalSecret', textAt(key, 'name'));
      expect(listAt(secret, 'spec', 'data').map((item) => item['secretKey'])).toContain(textAt(key, 'key'));
    }
    expect(textAt(find(manifests, 'ScheduledBackup', name), 'spec', 'cluster', 'name')).toBe(name);
  });

  test('creates the database for the role whose password the secret store holds', () => {
    const database = `svc_${service.replaceAll('-', '_')}`;
    expect(fieldsAt(cluster, 'spec', 'bootstrap', 'initdb')).toMatchObject({ database, owner: database });
    const secret = find(manifests, 'ExternalSecret', textAt(cluster, 'spec', 'bootstrap', 'initdb', 'secret', 'name'));
    expect(fieldsAt(secret, 'spec', 'target', 'template')).toMatchObject({
      type: 'kubernetes.io/basic-auth',
      data: { username: database },
    });
  });

  test('has a certificate for the host that DATABASE_URL names', () => {
    const certificate = find(manifests, 'Certificate', name);
    const { serverTLSSecret, serverCASecret } = fieldsAt(cluster, 'spec', 'certificates');
    expect([serverTLSSecret, serverCASecret]).toEqual(Array(2).fill(textAt(certificate, 'spec', 'secretName')));
    expect(valueAt(certificate, 'spec', 'dnsNames')).toContain(`${name}-rw.${NAMESPACE}.svc`);
  });

  test('is reached by its service and migration alone, beside its own instances', () => {
    const [rule, ...others] = listAt(find(manifests, 'NetworkPolicy', name), 'spec', 'ingress');
    expect(others).toEqual([]);
    expect(listAt(rule, 'from')).toEqual([
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'svc' } },
        podSelector: {
          matchExpressions: [
            { key: 'app.kubernetes.io/name', operator: 'In', values: [service, `${service}-migration`] },
          ],
        },
      },
      { podSelector: { matchLabels: { 'cnpg.io/cluster': name } } },
    ]);
  });
});

test('production with the component data-namespace reaches the data stores there and nowhere else', () => {
  const app = render(new URL('fixtures/with-data-stores/', import.meta.url));
  const peer = (labels: Record<string, string>, namespace = NAMESPACE): Peer => ({
    kind: 'pod',
    name: namespace,
    labels,
    namespace,
  });
  const reached = (to: Peer, port: number): string[] =>
    podsOf(app)
      .filter((from) => mayConnect(app, from, to, { protocol: 'TCP', port }))
      .map((from) => from.name)
      .toSorted();
  const withDatabase = databases.flatMap(({ service }) => [service, `${service}-migration`]).toSorted();
  for (const { metadata } of clusters) {
    expect(reached(peer({ 'cnpg.io/cluster': metadata.name }), 5432)).toEqual(withDatabase);
  }
  const withBroker = ['broker-migration', ...databases.map(({ service }) => service)].toSorted();
  expect(reached(peer({ 'app.kubernetes.io/name': 'nats' }), 4222)).toEqual(withBroker);
  expect(reached(peer({ 'app.kubernetes.io/name': 'nats' }, 'other'), 4222)).toEqual([]);
  expect(reached(peer({ 'cnpg.io/cluster': 'other' }), 5432)).toEqual([]);
});

describe('the values of NATS', () => {
  const tls = z.object({ enabled: z.literal(true), secretName: z.literal('nats-tls') });
  const values = z
    .object({
      config: z.object({
        cluster: z.object({
          enabled: z.literal(true),
          replicas: z.literal(3),
          tls: tls.extend({ merge: z.object({ verify: z.literal(true) }) }),
        }),
        jetstream: z.object({ enabled: z.literal(true), merge: z.object({ sync_interval: z.literal('always') }) }),
        nats: z.object({ tls }),
        merge: z.object({ '00$include': z.literal('accounts.conf'), max_payload: z.literal('<< 8MB >>') }),
      }),
      tlsCA: tls,
      container: z.object({ env: z.record(z.string(), z.unknown()) }),
      promExporter: z.object({ enabled: z.literal(true), podMonitor: z.object({ enabled: z.literal(true) }) }),
      configMap: z.object({ merge: z.object({ data: z.object({ 'accounts.conf': z.string() }) }) }),
    })
    .parse(parse(readFileSync(new URL('generated/nats-values.yaml', FOLDER), 'utf8')));
  const accounts = values.configMap.merge.data['accounts.conf'];
  const passwords = [...new Set([...accounts.matchAll(/\$(\w+_NATS_PASSWORD)/g)].map(([, name = '']) => name))];

  test('give every user of the accounts its password from the secret', () => {
    expect(passwords).toHaveLength(5);
    for (const name of passwords) {
      expect(values.container.env[name]).toEqual({
        valueFrom: { secretKeyRef: { name: 'nats-passwords', key: name } },
      });
    }
    const data = listAt(find(manifests, 'ExternalSecret', 'nats-passwords'), 'spec', 'data');
    expect(data.map(({ secretKey }) => secretKey).toSorted()).toEqual(passwords.toSorted());
  });

  test('make a configuration that nats-server accepts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-nats-values-'));
    try {
      writeFileSync(join(folder, 'accounts.conf'), accounts);
      const { merge, jetstream, cluster } = values.config;
      // As the chart writes it, without the certificates.
      writeFileSync(
        join(folder, 'nats.conf'),
        [
          `include ${merge['00$include']}`,
          `max_payload: ${merge.max_payload.replaceAll(/<<|>>/g, '').trim()}`,
          'server_name: nats-0',
          `jetstream { store_dir: ${folder}/data, sync_interval: ${jetstream.merge.sync_interval} }`,
          `cluster { name: nats, port: 6222, routes: [${Array.from({ length: cluster.replicas }, (_, index) => `"nats://nats-${index}.nats-headless:6222"`).join(', ')}] }`,
        ].join('\n'),
      );
      const env = Object.fromEntries(passwords.map((name) => [name, `p_${name}`]));
      const check = () =>
        execFileSync(locateNatsServer(), ['-t', '-c', join(folder, 'nats.conf')], { env, stdio: 'pipe' });
      expect(check).not.toThrow();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('use a certificate for the service and for every route', () => {
    const certificate = find(manifests, 'Certificate', 'nats');
    expect(textAt(certificate, 'spec', 'secretName')).toBe(values.tlsCA.secretName);
    expect(valueAt(certificate, 'spec', 'usages')).toEqual(['server auth', 'client auth']);
    expect(valueAt(certificate, 'spec', 'dnsNames')).toEqual(
      expect.arrayContaining([`nats.${NAMESPACE}.svc`, '*.nats-headless']),
    );
  });
});

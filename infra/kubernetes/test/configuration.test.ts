import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { callersOf, routesFileSchema } from '@svc/contracts';
import { describeSettings, loadConfig } from '@svc/service-kit';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fieldsAt, listAt, textAt } from '../src/kustomize/manifest.ts';
import { configSchemaOf } from './support/config-schemas.ts';
import {
  containersOf,
  type EnvironmentValue,
  environmentOf,
  find,
  ofKind,
  overlay,
  overlayNames,
  secretKeys,
  serviceNames,
} from './support/overlays.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-manifests-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const authorityFile = join(directory, 'authority.pem');
writeFileSync(authorityFile, rootCertificates[0] ?? '');

/** Well-formed values for variables that only a secret store has. */
const STAND_INS: Record<string, string> = {
  DATABASE_URL: 'postgres://svc:secret@database.test:5432/svc',
  NATS_URL: 'nats://nats.test:4222',
  AUTH_ENCRYPTION_KEY: 'a'.repeat(64),
  RECEIPT_KEY_SECRET: Buffer.alloc(32, 1).toString('base64'),
  PROVENANCE_KEY_SECRET: Buffer.alloc(32, 2).toString('base64'),
  MAIL_URL: 'smtps://mail.test',
  WEBHOOK_ENCRYPTION_KEY: 'b'.repeat(64),
  API_KEY_PEPPER: 'f'.repeat(64),
  INTERNAL_API_TOKENS: `operator:sha256:${'c'.repeat(64)}`,
  INTERNAL_API_TOKEN: `inference-gateway:${'d'.repeat(40)}`,
};
const standIn = (name: string): string => STAND_INS[name] ?? 'x'.repeat(40);

describe.each(overlayNames)('%s', (name) => {
  const manifests = overlay(name);
  const settingValue = (value: EnvironmentValue, variable: string): string => {
    // The files of authorities are mounted in the pod.
    if (variable.endsWith('_CA_FILE')) return authorityFile;
    if ('text' in value) return value.text;
    const plain = ofKind(manifests, 'Secret').find(({ metadata }) => metadata.name === value.secret);
    return plain === undefined ? standIn(variable) : textAt(plain, 'stringData', value.key);
  };
  const environmentFor = (service: string): Map<string, EnvironmentValue> =>
    environmentOf(manifests, containersOf(find(manifests, 'Deployment', service))[0] ?? {});

  test.each(serviceNames)('%s accepts its environment', async (service) => {
    const schema = await configSchemaOf(service);
    const environment = [...environmentFor(service)].map(([variable, value]) => [
      variable,
      settingValue(value, variable),
    ]);
    expect(() => loadConfig(schema, Object.fromEntries(environment))).not.toThrow();
  });

  test.each(serviceNames)('%s gets no unknown variable', async (service) => {
    const known = new Set(describeSettings(await configSchemaOf(service)).map((setting) => setting.name));
    const unknown = [...environmentFor(service).keys()].filter((variable) => !known.has(variable));
    // The routes file names the variables of the providers' keys.
    expect(unknown).toEqual(service === 'inference-gateway' && name === 'local' ? ['SANDBOX_PROVIDER_KEY'] : []);
  });

  test.each(serviceNames)('%s reads its secrets, and only those, from Secrets', async (service) => {
    const settings = describeSettings(await configSchemaOf(service));
    const secret = new Set(settings.filter((setting) => setting.secret).map((setting) => setting.name));
    for (const [variable, value] of environmentFor(service)) {
      if (settings.some((setting) => setting.name === variable))
        expect('secret' in value, variable).toBe(secret.has(variable));
    }
  });

  test('billing accepts the plans', async () => {
    const [text] = Object.values(configMapAt('billing', '/etc/svc/plans'));
    const file = join(directory, `${name}-plans.yaml`);
    writeFileSync(file, text ?? '');
    const { loadPlans } = await importSource<{ loadPlans: (path: string, rules: object) => readonly unknown[] }>(
      'services/billing/src/plans.ts',
    );
    const needsStripePrice = name !== 'local';
    expect(loadPlans(file, { currency: 'EUR', needsStripePrice }).length).toBeGreaterThan(0);
    expect(fileVariable('billing', 'PLANS_FILE')).toBe('/etc/svc/plans/plans.yaml');
  });

  test('the gateway accepts the routes', async () => {
    const [text = ''] = Object.values(configMapAt('inference-gateway', '/etc/svc/routes'));
    expect(() => routesFileSchema.parse(parse(text))).not.toThrow();
    expect(fileVariable('inference-gateway', 'ROUTES_FILE')).toBe('/etc/svc/routes/routes.yaml');
  });

  test('the base URL is the entrance’s', () => {
    const value = environmentFor('auth').get('PUBLIC_BASE_URL');
    const url = new URL(value !== undefined && 'text' in value ? value.text : '');
    const hosts = [
      ...ofKind(manifests, 'Ingress').flatMap((each) =>
        listAt(each, 'spec', 'rules').map((rule) => textAt(rule, 'host')),
      ),
      ...ofKind(manifests, 'HTTPRoute').flatMap((each) => [fieldsAt(each, 'spec')['hostnames']].flat().map(String)),
      ...ofKind(manifests, 'Gateway').flatMap((each) =>
        listAt(each, 'spec', 'listeners').map((one) => textAt(one, 'hostname')),
      ),
    ];
    expect(new Set(hosts)).toEqual(new Set([url.hostname]));
    expect(url.protocol).toBe(name === 'local' ? 'http:' : 'https:');
  });

  const fileVariable = (service: string, variable: string): string | undefined => {
    const value = environmentFor(service).get(variable);
    return value !== undefined && 'text' in value ? value.text : undefined;
  };

  /** Returns the data of a service's ConfigMap at a path. */
  const configMapAt = (service: string, path: string): Record<string, string> => {
    const deployment = find(manifests, 'Deployment', service);
    const pod = fieldsAt(deployment, 'spec', 'template', 'spec');
    const mount = listAt(containersOf(deployment)[0], 'volumeMounts').find((each) => each['mountPath'] === path);
    const volume = listAt(pod, 'volumes').find((each) => each['name'] === mount?.['name']);
    const data = fieldsAt(find(manifests, 'ConfigMap', textAt(volume, 'configMap', 'name')), 'data');
    return Object.fromEntries(Object.entries(data).map(([file, text]) => [file, String(text)]));
  };
});

test.each(serviceNames.filter((each) => each !== 'console'))(
  'the local %s accepts exactly its callers’ credentials',
  (service) => {
    const manifests = overlay('local');
    const accepted = textAt(find(manifests, 'Secret', service), 'stringData', 'INTERNAL_API_TOKENS').split(',');
    const expected = callersOf(service).map((caller) => {
      const [name, secret = ''] = textAt(find(manifests, 'Secret', caller), 'stringData', 'INTERNAL_API_TOKEN').split(
        ':',
      );
      return `${name}:sha256:${hash('sha256', secret, 'hex')}`;
    });
    expect(accepted).toEqual(expected);
  },
);

test('the local databases have the passwords that the services use', () => {
  const manifests = overlay('local');
  const passwords = fieldsAt(find(manifests, 'Secret', 'postgres'), 'stringData');
  for (const service of serviceNames.filter((each) => each !== 'console')) {
    const url = new URL(textAt(find(manifests, 'Secret', service), 'stringData', 'DATABASE_URL'));
    const name = `svc_${service.replaceAll('-', '_')}`;
    expect([url.username, url.hostname, url.pathname]).toEqual([name, 'postgres', `/${name}`]);
    expect(url.password).toBe(passwords[`${name.slice('svc_'.length).toUpperCase()}_DATABASE_PASSWORD`]);
  }
  expect(secretKeys(manifests, 'postgres')).toContain('POSTGRES_PASSWORD');
});

/** Imports a module of a service from source. */
const importSource = async <M>(path: string): Promise<M> => {
  const url = new URL(`../../../${path}`, import.meta.url);
  // The caller names the exports; a wrong name fails its test.
  return (await import(url.href)) as M;
};

import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callersOf, serviceNames as ownersOfRoutes } from '@svc/contracts';
import { describeSettings, loadConfig } from '@svc/service-kit';
import { DCLinter } from 'dclint';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { textAt } from '../src/kustomize/manifest.ts';
import { COMPOSE_FILE, interpolate, readCompose, variablesIn } from './support/compose.ts';
import { configSchemaOf } from './support/config-schemas.ts';
import { containersOf, overlay, serviceNames, workloads } from './support/overlays.ts';

const ROOT = new URL('../../../', import.meta.url);
const services = readCompose();
const directory = mkdtempSync(join(tmpdir(), 'svc-compose-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A finding of the linter, whose types do not resolve. */
interface Finding {
  readonly rule: string;
  readonly type: string;
  readonly category: string;
  readonly message: string;
}

const RULES = {
  // The formatter writes double quotes.
  'require-quotes-in-ports': [2, { quoteType: 'double' }],
  // An image is built from this folder, or pulled from the registry that IMAGES names.
  'no-build-and-image': 0,
  // Caddy is reached over IPv4 and IPv6. A test below holds every other port to this machine.
  'no-unbound-port-interfaces': 0,
} as const;

/**
 * Checks a file against the schema of the Compose Specification and the linter's other rules, except ordering and
 * quoting.
 */
const lint = (file: string): string[] => {
  const linter = new DCLinter({ rules: RULES, quiet: true, debug: false, exclude: [] });
  const results: readonly { messages: readonly Finding[] }[] = linter.lintFiles([file], false);
  return results
    .flatMap(({ messages }) => messages)
    .filter(({ type, category }) => type === 'error' || category !== 'style')
    .map(({ rule, message }) => `${rule}: ${message}`);
};

describe('docker-compose.yml', () => {
  test('fits the Compose Specification', () => expect(lint(fileURLToPath(COMPOSE_FILE))).toEqual([]));

  test('is rejected with an unknown key', () => {
    const file = join(directory, 'docker-compose.yml');
    writeFileSync(file, readFileSync(COMPOSE_FILE, 'utf8').replace('stop_grace_period', 'stop_grace_perod'));
    expect(lint(file).length).toBeGreaterThan(0);
  });

  test('runs the whole product', () => {
    const expected = [
      ...serviceNames,
      'alertmanager',
      'backup',
      'caddy',
      'grafana',
      'ingress',
      'nats',
      'node-exporter',
      'postgres',
      'prometheus',
      'sandbox-mail',
      'sandbox-payments',
      'sandbox-provider',
      'svc',
    ];
    const migrated = [...serviceNames.filter((name) => name !== 'console'), 'broker'];
    const migrations = migrated.map((name) => `migrate-${name}`);
    expect(Object.keys(services).toSorted()).toEqual([...expected, ...migrations].toSorted());
  });

  test.each(Object.entries(services))('%s has an exact image or one from the Dockerfile', (_name, { image, build }) => {
    if (build === undefined) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[\da-f]{64})?$/);
    else {
      expect(build.dockerfile).toBe('infra/docker/Dockerfile');
      expect(existsSync(packageFolder(build.args['PACKAGE'] ?? ''))).toBe(true);
    }
  });

  test('pins the images of third parties by digest where one could be confirmed, in line with the local overlay', () => {
    const foreign = Object.values(services).flatMap(({ image, build, profiles }) =>
      build === undefined && !profiles.includes('monitoring') ? [image ?? ''] : [],
    );
    expect(foreign.filter((image) => !image.includes('@sha256:'))).toEqual([
      'nats:2.14.0-alpine',
      'caddy:2.11.7-alpine',
    ]);
    const overlayImages = workloads(overlay('local')).flatMap((workload) =>
      containersOf(workload).map((container) => textAt(container, 'image')),
    );
    expect(overlayImages).toEqual(expect.arrayContaining(foreign.filter((image) => !image.startsWith('caddy:'))));
  });

  test.each(Object.entries(services))('%s is confined', (name, service) => {
    expect(service.security_opt).toContain('no-new-privileges:true');
    expect(service.privileged).toBeUndefined();
    // PostgreSQL's image starts as root and hands its folder to another user.
    if (name === 'postgres') return;
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
  });

  test.each(Object.entries(services))('%s waits for existing services with health checks', (_name, service) => {
    for (const [needed, { condition }] of Object.entries(service.depends_on)) {
      const other = services[needed];
      expect(other, needed).toBeDefined();
      if (condition === 'service_healthy') expect(other?.healthcheck?.test, needed).toBeDefined();
      else expect(other?.command).toEqual(['src/migrate.js']);
    }
  });

  test.each(Object.entries(services))('%s mounts only existing files, read-only', (_name, { volumes }) => {
    for (const [source = '', , mode] of volumes.map((volume) => volume.split(':'))) {
      if (!source.startsWith('.')) continue;
      expect(existsSync(new URL(source, ROOT)), source).toBe(true);
      expect(mode).toBe('ro');
    }
  });

  test.each(Object.entries(services))('%s keeps at most 100 MB of logs', (_name, { logging }) => {
    expect(logging).toEqual({ driver: 'local', options: { 'max-size': '20m', 'max-file': '5' } });
  });

  test('scrapes every process, and loads every file of rules', () => {
    const file = parse(readFileSync(new URL('infra/docker/monitoring/prometheus.yaml', ROOT), 'utf8'));
    const scraped = z
      .array(
        z.looseObject({
          job_name: z.string(),
          static_configs: z.array(z.looseObject({ targets: z.array(z.string()) })),
        }),
      )
      .parse(file.scrape_configs)
      .map(({ job_name, static_configs }) => `${job_name} ${static_configs.flatMap(({ targets }) => targets).join()}`);
    const expected = serviceNames.map((name) => `${name} ${name}:3001`);
    expect(scraped.toSorted()).toEqual([...expected, 'machine node-exporter:9100'].toSorted());
    expect(services['prometheus']?.volumes).toContain('./infra/observability/generated/rules:/etc/prometheus/rules:ro');
  });

  test('fits a machine with 4 GB of memory, without the profile of monitoring', () => {
    const limits = Object.entries(services)
      .filter(
        ([name, { profiles }]) => !profiles.includes('monitoring') && name !== 'svc' && !name.startsWith('migrate-'),
      )
      .map(([name, { mem_limit }]) => {
        const [, count = '', unit = ''] = /^(\d+)([mg])$/.exec(mem_limit ?? '') ?? [];
        expect(unit, name).not.toBe('');
        return Number(count) * (unit === 'g' ? 1_024 : 1);
      });
    expect(limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThanOrEqual(4_096);
  });

  test.each(Object.entries(services))(
    '%s is checked twice a minute at most, once it is up',
    (_name, { healthcheck }) => {
      if (healthcheck?.disable !== true && healthcheck !== undefined) {
        expect(healthcheck.interval).toMatch(/^(30|60)s$/);
      }
    },
  );

  test('never asks a public registry for an image of ours', () => {
    for (const { image, build } of Object.values(services)) {
      if (build !== undefined) expect(interpolate(image ?? '', {})).toMatch(/^localhost\//);
    }
  });

  test('is reached from this machine alone, and from others through Caddy once the profile edge is asked for', () => {
    const published = Object.entries(services).flatMap(([name, { ports, profiles }]) =>
      ports.map((port) => `${profiles.join()}${name} ${interpolate(port, {})}`),
    );
    expect(published).toEqual([
      'sandbox-mail 127.0.0.1:8025:9200',
      'ingress 127.0.0.1:8080:8080',
      'edgecaddy 80:80',
      'edgecaddy 443:443',
      'edgecaddy 443:443/udp',
      'monitoringprometheus 127.0.0.1:9090:9090',
      'monitoringalertmanager 127.0.0.1:9093:9093',
      'monitoringgrafana 127.0.0.1:3030:3000',
    ]);
  });
});

describe('with the secrets of make-env.sh', () => {
  const script = fileURLToPath(new URL('infra/docker/make-env.sh', ROOT));
  const lines = execFileSync(script, { encoding: 'utf8' }).trim().split('\n');
  const variables = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const environmentOf = (name: string, more: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(
      Object.entries(services[name]?.environment ?? {}).map(([key, text]) => [
        key,
        interpolate(text, { ...variables, ...more }),
      ]),
    );
  const edge = { DOMAIN: 'ai.example.com', ACME_EMAIL: 'ops@example.com' };

  test.each([...serviceNames, 'ingress'])('DOMAIN is the public address of %s', (name) => {
    expect(environmentOf(name, edge)['PUBLIC_BASE_URL']).toBe('https://ai.example.com');
    expect(environmentOf(name)['PUBLIC_BASE_URL']).toBe('http://127.0.0.1:8080');
    const own = { ...edge, PUBLIC_BASE_URL: 'https://other.example.com' };
    expect(environmentOf(name, own)['PUBLIC_BASE_URL']).toBe('https://other.example.com');
  });

  test('the ingress believes the client address of Caddy, and of no proxy without DOMAIN', () => {
    expect(environmentOf('ingress', edge)['TRUST_PROXY_HOPS']).toBe('1');
    expect(environmentOf('ingress')['TRUST_PROXY_HOPS']).toBe('');
  });

  test('the ingress serves pages of the sandbox’s payments only where PAYMENTS=sandbox is allowed', () => {
    expect(environmentOf('ingress')['SANDBOX_PAYMENTS_URL']).toBe('http://sandbox-payments:9300');
    const stripe = { PAYMENTS: 'stripe', PAYMENTS_SANDBOX_IN_PRODUCTION: '' };
    expect(environmentOf('ingress', stripe)['SANDBOX_PAYMENTS_URL']).toBe('');
  });

  test('every image is pulled from a registry once IMAGES and VERSION name a release', () => {
    const release = { IMAGES: 'ghcr.io/example/svc', VERSION: '1.2.3' };
    const images = Object.values(services).flatMap(({ build, image = '' }) =>
      build ? [interpolate(image, release)] : [],
    );
    expect(images.every((image) => /^ghcr\.io\/example\/svc\/[a-z-]+:1\.2\.3$/.test(image))).toBe(true);
  });

  test.each(serviceNames)('%s accepts its environment and knows every variable in it', async (service) => {
    const schema = await configSchemaOf(service);
    const environment = environmentOf(service);
    expect(() => loadConfig(schema, environment)).not.toThrow();
    const known = new Set(describeSettings(schema).map(({ name }) => name));
    const unknown = Object.keys(environment).filter((name) => !known.has(name));
    // The shipped routes file names this variable for the provider's key.
    expect(unknown).toEqual(service === 'inference-gateway' ? ['SANDBOX_PROVIDER_KEY'] : []);
  });

  test('what docs/scale.md says to set for one machine reaches a container', () => {
    const said = [
      ...readFileSync(new URL('docs/scale.md', ROOT), 'utf8').matchAll(/`([A-Z][A-Z_]+_(?:MAX|DAYS|MONTHS))`/g),
    ];
    const passed = new Set(variablesIn(JSON.stringify(services)));
    expect(said.length).toBeGreaterThan(0);
    expect(said.map(([, name = '']) => name).filter((name) => !passed.has(name))).toEqual([]);
  });

  test.each(ownersOfRoutes)(
    '%s accepts exactly the callers of its internal routes and holds only its credential',
    (service) => {
      const { INTERNAL_API_TOKENS: accepted = '', INTERNAL_API_TOKEN: own } = environmentOf(service);
      const expected = callersOf(service).map((caller) => {
        const [, secret = ''] = (variables[`${caller.toUpperCase().replaceAll('-', '_')}_API_TOKEN`] ?? '').split(':');
        return `${caller}:sha256:${hash('sha256', secret, 'hex')}`;
      });
      expect(accepted.split(',')).toEqual(expected);
      expect(own?.split(':')[0] ?? service).toBe(service);
    },
  );

  test('every secret is used, and every required one is generated', () => {
    const text = JSON.stringify(services);
    const used = new Set(variablesIn(text));
    expect(Object.keys(variables).filter((name) => !used.has(name))).toEqual([]);
    const optional = new Set([...text.matchAll(/\$\{(\w+):[-+]/g)].map(([, name]) => name));
    expect([...used].filter((name) => !optional.has(name) && variables[name] === undefined)).toEqual([]);
  });

  test('internal addresses name a container and a port that it listens on', () => {
    const listens: Record<string, string[]> = {
      nats: ['4222'],
      postgres: ['5432'],
      'sandbox-payments': ['9300'],
    };
    for (const name of serviceNames)
      listens[name] = [environmentOf(name)['PORT'] ?? '', environmentOf(name)['INTERNAL_PORT'] ?? ''];
    for (const name of Object.keys(services)) {
      for (const value of Object.values(environmentOf(name))) {
        const url = /^(http|nats|postgres):\/\//.test(value) ? new URL(value) : undefined;
        if (url === undefined || url.hostname === '127.0.0.1') continue;
        expect(listens[url.hostname], `${name}: ${url.host}`).toContain(url.port);
      }
    }
  });
});

/** Returns the folder of a workspace package that becomes an image. */
const packageFolder = (name: string): URL => {
  const folder = name.replace('@svc/', '');
  const parents = ['services', 'packages', 'infra'].map((parent) => new URL(`${parent}/${folder}/package.json`, ROOT));
  const found = parents.find((url) => existsSync(url));
  if (found === undefined) throw new Error(`unknown package ${name}`);
  return found;
};

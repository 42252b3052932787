import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { valuesSchema, valuesSchemaText } from '../src/chart/chart-files.ts';
import { layers, OVERLAY } from '../src/chart/chart-objects.ts';
import { chartValues } from '../src/chart/values.ts';
import { fieldsAt, type Manifest, podTemplateOf, textAt, toManifest } from '../src/kustomize/manifest.ts';
import { parseDocuments } from '../src/kustomize/patches.ts';
import { render, renderWith } from '../src/kustomize/render.ts';
import { defaultValues, mergeValues, renderChart } from './support/helm/render-chart.ts';
import { find, ofKind, overlay, podSpecOf } from './support/overlays.ts';

const CHART = fileURLToPath(new URL('../chart/svc', import.meta.url));
const hasHelm = spawnSync('helm', ['version'], { timeout: 20_000 }).status === 0;
if (!hasHelm) console.warn('NOT CHECKED: helm is missing, so only the renderer of these tests renders the chart.');

const PRODUCTION = layers
  .slice(0, 5)
  .map(({ component }) => component)
  .concat('monitoring');
/** Renders production with some components in place of others. */
const production = (without: readonly string[], further: readonly string[] = []): Manifest[] => {
  const wanted = new Set([...PRODUCTION.filter((component) => !without.includes(component)), ...further]);
  const components = layers.flatMap(({ component }) =>
    wanted.has(component) ? [`../../components/${component}`] : [],
  );
  return renderWith(OVERLAY, components);
};
const dataNamespace = (): Manifest[] => render(new URL('fixtures/with-data-stores/', import.meta.url));
const peersOf = (name: string) => fieldsAt(find(dataNamespace(), 'NetworkPolicy', name), 'spec', 'egress', 0)['to'];
const isOn = { enabled: true };

/** Values, and the manifests that must come of them. */
const cases: [title: string, values: object, manifests: () => readonly Manifest[]][] = [
  ['the defaults: production', {}, () => overlay('production')],
  ['an Ingress', { entrance: { kind: 'ingress' } }, () => production(['gateway-api'], ['ingress'])],
  ['no entrance', { entrance: { kind: 'none' } }, () => production(['gateway-api'])],
  [
    'Secrets of the operator',
    { secrets: { store: '' } },
    () => production(['external-secrets']).filter(({ kind }) => kind !== 'ExternalSecret'),
  ],
  ['data stores without TLS', { dataStores: { verified: false } }, () => production(['verified-data-stores'])],
  [
    'data stores in another namespace',
    { dataStores: { postgres: { peers: peersOf('to-postgres') }, nats: { peers: peersOf('to-nats') } } },
    dataNamespace,
  ],
  ['no Stripe', { stripe: { enabled: false } }, () => production(['stripe'])],
  ['single sign-on', { singleSignOn: isOn }, () => production([], ['single-sign-on'])],
  ['scaling by requests', { scalingByRequests: true }, () => production([], ['scaling-by-requests'])],
  ['traces', { tracing: isOn }, () => production([], ['tracing'])],
  [
    'all that production lacks',
    { singleSignOn: isOn, scalingByRequests: true, tracing: isOn },
    () => production([], ['single-sign-on', 'scaling-by-requests', 'tracing']),
  ],
  [
    'no monitoring',
    { monitoring: { podMonitor: false, rules: false, dashboards: false } },
    () => production(['monitoring']),
  ],
];

const parsed = (text: string): Manifest[] =>
  parseDocuments(text, 'the chart')
    .filter((document) => document !== null)
    .map((document) => toManifest(document, 'the chart'));
const chart = (values: object): Manifest[] =>
  [...renderChart(values)].flatMap(([name, text]) => (name.endsWith('.yaml') ? parsed(text) : []));

const OF_HELM = /^(helm\.sh|meta\.helm\.sh|checksum)\/|^app\.kubernetes\.io\/managed-by$/;
const withoutHelm = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (OF_HELM.test(name)) return [];
      if (Array.isArray(value)) return [[name, value]];
      if (typeof value !== 'object' || value === null) return [[name, value]];
      const kept = withoutHelm(value);
      return name === 'annotations' && Object.keys(kept).length === 0 ? [] : [[name, kept]];
    }),
  );
/** Returns objects by their names, without what only Helm or only kustomize adds. */
const comparable = (manifests: readonly Manifest[]): Record<string, object> => {
  const text = JSON.stringify(manifests).replaceAll(/"(settings|plans)-[a-z0-9]{10}"/g, '"$1"');
  const objects: Manifest[] = JSON.parse(text);
  const named = objects
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => [`${object.kind} ${object.metadata.name}`, withoutHelm(object)] as const);
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
  return Object.fromEntries(named);
};

describe('the chart', () => {
  test.each(cases)('renders what the manifests say: %s', (_, values, manifests) => {
    expect(comparable(chart(values))).toEqual(comparable(manifests()));
  });

  test('puts every object into the namespace of the release', () => {
    const objects = [...renderChart({}, 'elsewhere')].flatMap(([name, text]) =>
      name.endsWith('.yaml') ? parsed(text) : [],
    );
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['elsewhere']));
  });

  test('migrates before everything else of a release, with accounts that exist by then', () => {
    const objects = chart({});
    const hookOf = ({ metadata }: Manifest): string => textAt(metadata, 'annotations', 'helm.sh/hook');
    const weightOf = ({ metadata }: Manifest): number => Number(textAt(metadata, 'annotations', 'helm.sh/hook-weight'));
    const jobs = ofKind(objects, 'Job');
    expect(jobs.length).toBe(5);
    for (const job of jobs) {
      const account = find(objects, 'ServiceAccount', textAt(podSpecOf(job), 'serviceAccountName'));
      expect([hookOf(job), hookOf(account)]).toEqual(Array(2).fill('pre-install,pre-upgrade'));
      expect(weightOf(account)).toBeLessThan(weightOf(job));
      expect(textAt(job.metadata, 'annotations', 'helm.sh/hook-delete-policy')).toBe('before-hook-creation');
      expect(job.metadata.annotations).toMatchObject({ 'argocd.argoproj.io/hook': 'Sync' });
    }
    const hooks = objects.filter((object) => hookOf(object) !== '');
    expect(hooks.length).toBe(2 * jobs.length);
    for (const deployment of ofKind(objects, 'Deployment'))
      expect(deployment.metadata.annotations).toMatchObject({ 'argocd.argoproj.io/sync-wave': '1' });
  });

  test('rolls out the services that read a file at their start when it changes, and no other', () => {
    const checksumsOf = (values: object): Record<string, string> =>
      Object.fromEntries(
        ofKind(chart(values), 'Deployment').map((deployment) => [
          deployment.metadata.name,
          JSON.stringify(fieldsAt(podTemplateOf(deployment), 'metadata', 'annotations')),
        ]),
      );
    const before = checksumsOf({});
    const rolledBy = (values: object): string[] =>
      Object.entries(checksumsOf(values)).flatMap(([name, checksum]) => (checksum === before[name] ? [] : [name]));
    expect(rolledBy({ plans: 'plans: []\n' })).toEqual(['billing']);
    expect(rolledBy({ routes: 'routes: []\n' })).toEqual([]);
    expect(rolledBy({ settings: { LOG_LEVEL: 'debug' } }).toSorted()).toEqual(Object.keys(before).toSorted());
  });

  test('lets Helm adopt the ExternalSecrets, which are applied before the first installation', () => {
    for (const { metadata } of ofKind(chart({}), 'ExternalSecret')) {
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'Helm' });
      expect(metadata.annotations).toMatchObject({
        'meta.helm.sh/release-name': 'svc',
        'meta.helm.sh/release-namespace': 'svc',
      });
    }
  });
});

describe('the values', () => {
  const all = { singleSignOn: isOn, tracing: isOn, scalingByRequests: true };
  const text = (values: object): string =>
    ['gateway-api', 'ingress']
      .map((kind) => [...renderChart(Object(mergeValues(mergeValues(all, { entrance: { kind } }), values))).values()])
      .join('\n');
  const before = text({});
  const valueAt = (path: string): unknown =>
    path.split('.').reduce<unknown>((value, name) => Object(value)[name], defaultValues());
  const nested = (path: string, value: unknown): object =>
    Object(path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value));
  /** Returns other values that the schema accepts, of which one must show. */
  const others = (path: string): unknown[] => {
    const value = valueAt(path);
    if (typeof value === 'boolean') return [!value, value];
    if (typeof value === 'number') return [value / 2, value + 1];
    if (Array.isArray(value)) return [[{ name: 'other' }], [{ secretName: 'other' }], [{ protocol: 'TCP', port: 1 }]];
    if (typeof value === 'object') return [{ LIMITS: 'other' }, { limits: { cpu: 'other' } }];
    return ['other', `sha256:${'0'.repeat(64)}`, 'http://other', 'none', '5368709120'];
  };

  test('fit their schema, and unknown ones do not', () => {
    const schema = valuesSchema(chartValues);
    expect(schema.parse(defaultValues())).toEqual(defaultValues());
    expect(schema.safeParse({ ...defaultValues(), global: { any: 1 } }).success).toBe(true);
    expect(schema.safeParse({ ...defaultValues(), hots: 'svc.example.com' }).success).toBe(false);
    const unnamed = mergeValues(defaultValues(), { images: { digests: { auth: 'latest' } } });
    expect(schema.safeParse(unnamed).success).toBe(false);
  });

  test.each(['', 'it/'])('of the example in docs/guides/%s fit their schema', (language) => {
    const guide = readFileSync(new URL(`../../../docs/guides/${language}operators.md`, import.meta.url), 'utf8');
    const [, example = ''] = /```yaml [^\n]*\n(host: [\s\S]*?)```/.exec(guide) ?? [];
    const values: object = parse(example);
    expect(valuesSchema(chartValues).safeParse(mergeValues(defaultValues(), values)).error).toBeUndefined();
    expect(text(values)).toContain('svc.example.org');
  });

  test('have patterns that Go accepts, which knows no assertions', () => {
    expect(valuesSchemaText(chartValues)).not.toMatch(/"pattern": ".*\(\?[!=<]/);
  });

  test.each(chartValues)('show in what the chart renders: $path', ({ path, schema }) => {
    const accepted = others(path).filter((value) => schema.safeParse(value).success);
    const shown = accepted.filter((value) => text(nested(path, value)) !== before);
    expect(shown).not.toEqual([]);
  });

  test('replace the host and the registry everywhere', () => {
    const changed = text({
      host: 'a.test',
      images: { registry: 'b.test', digests: { auth: `sha256:${'a'.repeat(64)}` } },
    });
    expect(changed).not.toMatch(/svc\.example\.com|registry\.example\.com/);
    expect(changed).toContain(`b.test/auth@sha256:${'a'.repeat(64)}`);
    expect(changed).toContain('b.test/billing:1.0.0');
  });
});

describe.runIf(hasHelm)('helm', () => {
  test.each(cases)('renders the chart like the renderer of these tests: %s', (_, values) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-chart-'));
    try {
      const file = join(folder, 'values.yaml');
      writeFileSync(file, JSON.stringify(values));
      const options = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
      const linted = spawnSync('helm', ['lint', '--strict', CHART, '--values', file], options);
      expect(linted.status, linted.stdout).toBe(0);
      const run = spawnSync('helm', ['template', 'svc', CHART, '--namespace', 'svc', '--values', file], options);
      expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
      expect(comparable(parsed(run.stdout))).toEqual(comparable(chart(values)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { allInternalRoutes, allRoutes, serviceNames } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { dashboards } from '../src/dashboards/main.ts';
import { listSeries, readCatalog } from '../src/metrics/metric-names.ts';
import { objectives, recordedSeries, ruleFiles } from '../src/objectives.ts';
import { RUNBOOKS_URL } from '../src/rules/alert-groups.ts';
import { parseQuery, type Selector } from './support/promql.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const rules = Object.values(ruleFiles()).flatMap((groups) => groups.flatMap((group) => group.rules));
const alerts = rules.filter((rule) => 'alert' in rule);
const recordings = rules.filter((rule) => 'record' in rule);

/** Names of PostgreSQL's catalog in the statements of runbooks. */
const POSTGRES_NAMES = new Set([
  ...['wait_event', 'wait_event_type', 'application_name', 'backend_start', 'query_start', 'max_connections'],
  ...['synchronous_commit', 'min_wal_size', 'n_dead_tup', 'last_autovacuum'],
]);
const catalogText = [
  read('infra/observability/generated/metrics.yaml'),
  ...serviceNames.map((name) => read(`services/${name}/schema.sql`)),
];
const catalog = readCatalog(read('infra/observability/generated/metrics.yaml'));
/** Prometheus creates this series for each target. */
const series = listSeries(catalog).set('up', new Set());
for (const name of recordedSeries) series.set(name, new Set(['objective']));
/** Returns the TypeScript sources below a folder, without tests. */
const sourceFiles = (folder: URL): string[] => {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return [];
  }
  return entries
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(new URL(path, folder), 'utf8'));
};

/** Sources of services, libraries and the broker's migration. */
const sources = ['packages', 'services']
  .flatMap((folder) => readdirSync(new URL(`${folder}/`, ROOT)).map((name) => `${folder}/${name}/src/`))
  .concat('infra/broker-migration/src/')
  .flatMap((folder) => sourceFiles(new URL(folder, ROOT)));
/** Labels that Prometheus adds to every sample (PodMonitor). */
const TARGET_LABELS = ['job', 'namespace', 'pod'];
const operations = new Set([
  ...[...allRoutes, ...allInternalRoutes].map(({ operationId }) => operationId),
  ...['healthz', 'readyz', 'metrics'],
]);
const processes: ReadonlySet<string> = new Set([...serviceNames, 'console']);
const known: Record<string, ReadonlySet<string>> = {
  operation: operations,
  service: processes,
  job: processes,
};

/** Returns the faults of a query; empty if all names exist. */
const faultsOf = (query: string): string[] => {
  const { selectors, groupedBy } = parseQuery(query);
  const labels = new Set([...TARGET_LABELS, ...selectors.flatMap(({ metric }) => [...(series.get(metric) ?? [])])]);
  return [
    ...selectors.flatMap(selectorFaults),
    ...(labelsAreKnown(selectors)
      ? groupedBy.filter((label) => !labels.has(label)).map((label) => `groups by ${label}`)
      : []),
  ];
};

/** A labeled counter shows no labels before its first sample. */
const labelsAreKnown = (selectors: readonly Selector[]): boolean =>
  selectors.every(({ metric }) => (series.get(metric)?.size ?? 0) > 0);

const selectorFaults = ({ metric, matchers }: Selector): string[] => {
  const labels = series.get(metric);
  if (labels === undefined) return [`unknown metric ${metric}`];
  return matchers.flatMap(({ label, value }) => {
    const isKnown = TARGET_LABELS.includes(label) || labels.size === 0 || labels.has(label);
    const values = known[label] === undefined ? [] : value.split('|').filter((each) => !known[label]?.has(each));
    return [
      ...(isKnown ? [] : [`${metric} has no label ${label}`]),
      ...values.map((each) => `unknown ${label} ${each}`),
    ];
  });
};

/** Prometheus fills in the objective of an alert. */
const OBJECTIVE_LABEL = '{{ $labels.objective }}';

/** Returns the page that an address leads to, and the heading in it. */
const runbookOf = (url: string): { page: string; heading: string | undefined } => {
  expect(url.startsWith(`${RUNBOOKS_URL}/`)).toBe(true);
  const [page = '', heading] = url.slice(RUNBOOKS_URL.length + 1).split('#');
  return { page: `docs/runbooks/${page}`, heading };
};

/** Names that the host of the documents gives to the headings of a page. */
const headingsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );

describe.each(alerts.map((alert) => [alert.alert, alert] as const))('alert %s', (name, alert) => {
  test('uses only existing metrics', () => expect(faultsOf(alert.expr)).toEqual([]));

  test('uses only labels of its result', () => {
    const said = [...alert.annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    const { groupedBy, selectors } = parseQuery(alert.expr);
    const isAggregated = groupedBy.length > 0;
    const kept = isAggregated
      ? groupedBy
      : [...TARGET_LABELS, ...selectors.flatMap(({ metric }) => [...(series.get(metric) ?? [])])];
    expect(said.filter((label) => label !== undefined && !kept.includes(label))).toEqual([]);
  });

  test('links a runbook with diagnosis and remedy', () => {
    const { page, heading } = runbookOf(alert.annotations.runbook_url);
    const text = read(page);
    expect(text.startsWith(`# ${name}\n\n`)).toBe(true);
    for (const part of ['\n## Diagnosis\n\n- ', '\n## Remedy\n\n- ']) expect(text).toContain(part);
    const headings =
      heading === OBJECTIVE_LABEL ? objectives.map(({ id }) => id) : heading === undefined ? [] : [heading];
    expect(headingsOf(text)).toEqual(expect.arrayContaining(headings));
  });
});

test.each(recordings.map(({ record, labels, expr }) => [`${record} of ${labels.objective}`, expr] as const))(
  '%s uses only existing metrics',
  (_name, expr) => expect(faultsOf(expr)).toEqual([]),
);

test('every page belongs to an alert', () => {
  const pages = readdirSync(new URL('docs/runbooks/', ROOT)).map((file) => `docs/runbooks/${file}`);
  const linked = new Set(alerts.map(({ annotations }) => runbookOf(annotations.runbook_url).page));
  expect(pages.toSorted()).toEqual([...linked].toSorted());
});

test.each(readdirSync(new URL('docs/runbooks/', ROOT)))('%s uses only existing names', (file) => {
  const page = read(`docs/runbooks/${file}`);
  const names = [...page.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code = '']) => code.match(/\b[A-Za-z]+(?:_[A-Za-z]+)+\b/g) ?? [])
    .filter((name) => !name.startsWith('pg_') && !POSTGRES_NAMES.has(name));
  const known = [...catalogText, ...sources];
  expect(names.filter((name) => !known.some((text) => text.includes(name)))).toEqual([]);
});

test('links between pages lead to a document and a heading in it', () => {
  for (const file of readdirSync(new URL('docs/runbooks/', ROOT))) {
    const from = new URL(`docs/runbooks/${file}`, ROOT);
    for (const [, target = file, heading] of readFileSync(from, 'utf8').matchAll(/\]\(([^)#]+)?(?:#([^)]*))?\)/g)) {
      const text = existsSync(new URL(target, from)) ? readFileSync(new URL(target, from), 'utf8') : undefined;
      expect(text, `${file}: ${target}`).toBeDefined();
      if (heading !== undefined) expect(headingsOf(text ?? ''), `${file}: ${target}`).toContain(heading);
    }
  }
});

describe.each(dashboards.map((dashboard) => [dashboard.uid, dashboard] as const))('dashboard %s', (_uid, dashboard) => {
  const panels = dashboard.rows.flatMap((row) =>
    row.panels.map((panel) => [`${row.title}: ${panel.title}`, panel] as const),
  );

  test.each(panels)('%s uses only existing metrics', (_title, panel) => {
    expect(panel.queries.flatMap(({ expr }) => faultsOf(expr))).toEqual([]);
  });

  test('names each panel once', () => {
    const titles = panels.map(([title]) => title);
    expect(titles).toEqual([...new Set(titles)]);
  });
});

test('docs/objectives.md states the objectives', () => {
  const rows = [...read('docs/objectives.md').matchAll(/^\| ([a-z]+-[a-z]+) \| (\S+) % \| (.+) \|$/gm)];
  expect(rows.map(([, id, target, statement]) => [id, Number(target), statement])).toEqual(
    objectives.map(({ id, budget, statement }) => [id, Number((100 * (1 - budget)).toFixed(3)), statement]),
  );
});

test('each latency of an objective is the bound of a bucket', () => {
  const buckets = /REQUEST_SECONDS = \[([^\]]+)\]/.exec(read('packages/service-kit/src/create-metrics.ts'))?.[1];
  const bounds = objectives.flatMap(({ failures }) => /le=~?"([\d.]+)/.exec(failures)?.[1] ?? []);
  expect(bounds.length).toBe(3);
  expect(buckets?.split(', ')).toEqual(expect.arrayContaining(bounds));
});

describe('the list of metrics', () => {
  test('has only metrics of ours that a dashboard shows', () => {
    const shown = dashboards
      .flatMap(({ rows }) => rows.flatMap(({ panels }) => panels))
      .flatMap(({ queries }) => queries.flatMap(({ expr }) => parseQuery(expr).selectors));
    const metrics = new Set(shown.map(({ metric }) => metric.replace(/_(bucket|sum|count)$/, '')));
    const own = Object.values(catalog).flatMap((families) => Object.keys(families));
    expect(own.filter((name) => !/^(nodejs|process)_/.test(name) && !metrics.has(name))).toEqual([]);
  });

  test('names only metrics that the code creates', () => {
    const own = new Set(Object.values(catalog).flatMap((families) => Object.keys(families)));
    // prom-client provides the metrics of Node and the process.
    const missing = [...own].filter(
      (name) => !/^(nodejs|process)_/.test(name) && !sources.some((text) => text.includes(`'${name}'`)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the check itself', () => {
  test.each([
    ['an unknown metric', 'rate(no_such_metric_total[5m]) > 0', ['unknown metric no_such_metric_total']],
    ['an unknown label', 'outbox_unpublished{stream="AUTH"} > 0', ['outbox_unpublished has no label stream']],
    ['an unknown operation', 'http_requests_total{operation="nope"}', ['unknown operation nope']],
    ['an unknown grouping', 'sum by (zone) (outbox_unpublished)', ['groups by zone']],
  ])('finds %s', (_what, query, faults) => expect(faultsOf(query)).toEqual(faults));

  test('rejects an invalid query', () => expect(() => faultsOf('sum by (service) rate(')).toThrow('no PromQL'));
});

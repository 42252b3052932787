import { readdirSync, readFileSync } from 'node:fs';
import { allInternalRoutes, allRoutes, serviceNames } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { dashboards } from '../src/dashboards/dashboards.ts';
import { listSeries, readCatalog } from '../src/metrics/metric-names.ts';
import { parseQuery, type Selector } from './support/promql.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

const alertSchema = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+m$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
});
const ruleFileSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertSchema) })),
});
const groups = readdirSync(new URL('infra/observability/alerts/', ROOT)).flatMap(
  (file) => ruleFileSchema.parse(parse(read(`infra/observability/alerts/${file}`))).groups,
);
const alerts = groups.flatMap(({ rules }) => rules);

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

/** Sources of services and libraries. */
const sources = ['packages', 'services']
  .flatMap((folder) => readdirSync(new URL(`${folder}/`, ROOT)).map((name) => `${folder}/${name}/src/`))
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

/** A labelled counter shows no labels before its first sample. */
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

const runbookOf = (alert: string): string =>
  `docs/runbooks/${alert.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()}.md`;

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

  test('has a runbook with diagnosis and remedy', () => {
    expect(alert.annotations.runbook).toBe(runbookOf(name));
    const page = read(alert.annotations.runbook);
    expect(page.startsWith(`# ${name}\n\n`)).toBe(true);
    for (const heading of ['\n## Diagnosis\n\n- ', '\n## Remedy\n\n- ']) expect(page).toContain(heading);
  });
});

test('every page belongs to an alert', () => {
  const pages = readdirSync(new URL('docs/runbooks/', ROOT)).map((file) => `docs/runbooks/${file}`);
  expect(pages.toSorted()).toEqual(alerts.map(({ alert }) => runbookOf(alert)).toSorted());
});

test.each(readdirSync(new URL('docs/runbooks/', ROOT)))('%s uses only existing names', (file) => {
  const page = read(`docs/runbooks/${file}`);
  const names = [...page.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code = '']) => code.match(/\b[A-Za-z]+(?:_[A-Za-z]+)+\b/g) ?? [])
    .filter((name) => !name.startsWith('pg_') && !POSTGRES_NAMES.has(name));
  const known = [...catalogText, ...sources];
  expect(names.filter((name) => !known.some((text) => text.includes(name)))).toEqual([]);
});

test('links between pages lead somewhere', () => {
  for (const file of readdirSync(new URL('docs/runbooks/', ROOT))) {
    const page = read(`docs/runbooks/${file}`);
    for (const [, target = ''] of page.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(
        () => readFileSync(new URL(target, new URL(`docs/runbooks/${file}`, ROOT))),
        `${file}: ${target}`,
      ).not.toThrow();
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

import { parse } from 'yaml';

/** A metric as a service exposes it. */
export interface MetricFamily {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Labels seen so far; one that appears only with a later sample is missing. */
  readonly labels: readonly string[];
}

/** Metrics by name, by process name. */
export type MetricCatalog = Record<string, Record<string, MetricFamily>>;

/** Labels that select a part of a histogram. */
const NOT_OWN = new Set(['le', 'quantile']);
const HISTOGRAM_SERIES = ['_bucket', '_sum', '_count'];

/** Parses the Prometheus text format: families in alphabetical order, with the labels of their samples. */
export const parseMetricsText = (text: string): Record<string, MetricFamily> => {
  const families = new Map<string, { type: MetricFamily['type']; labels: Set<string> }>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram|summary)$/gm)) {
    // The pattern above names exactly the members of the union.
    families.set(name, { type: type as MetricFamily['type'], labels: new Set() });
  }
  for (const [, series = '', labels = ''] of text.matchAll(/^([a-zA-Z_:][\w:]*)\{(.*)\} \S+$/gm)) {
    const name = families.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '');
    for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) {
      if (!NOT_OWN.has(label)) families.get(name)?.labels.add(label);
    }
  }
  const sorted = [...families].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, { type, labels }]) => [name, { type, labels: [...labels].sort() }]));
};

/** Merges the current metrics with labels seen earlier: not every run sends every kind of request. */
export const withEarlierLabels = (now: MetricCatalog, earlier: MetricCatalog): MetricCatalog =>
  Object.fromEntries(
    Object.entries(now).map(([process, families]) => [
      process,
      Object.fromEntries(
        Object.entries(families).map(([name, { type, labels }]) => {
          const all = new Set([...labels, ...(earlier[process]?.[name]?.labels ?? [])]);
          return [name, { type, labels: [...all].sort() }];
        }),
      ),
    ]),
  );

/** Renders the committed list: one metric per line. */
export const renderCatalog = (catalog: MetricCatalog): string =>
  Object.entries(catalog)
    .map(([process, families]) => {
      const lines = Object.entries(families).map(
        ([name, { type, labels }]) => `  ${name}: { type: ${type}, labels: [${labels.join(', ')}] }\n`,
      );
      return `${process}:\n${lines.join('')}`;
    })
    .join('');

/** Reads the committed list. */
export const readCatalog = (yaml: string): MetricCatalog =>
  // `renderCatalog` has written it in this shape.
  parse(yaml) as MetricCatalog;

/** Lists the series that queries may use, with their labels; a histogram is read by its series. */
export const listSeries = (catalog: MetricCatalog): Map<string, ReadonlySet<string>> => {
  const series = new Map<string, Set<string>>();
  for (const [name, { type, labels }] of Object.values(catalog).flatMap((families) => Object.entries(families))) {
    for (const end of type === 'histogram' ? HISTOGRAM_SERIES : ['']) {
      const known = series.get(`${name}${end}`) ?? new Set();
      for (const label of labels) known.add(label);
      if (end === '_bucket' && labels.length > 0) known.add('le');
      series.set(`${name}${end}`, known);
    }
  }
  return series;
};

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MetricCatalog, parseMetricsText, readCatalog, renderCatalog, withEarlierLabels } from './metric-names.ts';

/**
 * Writes the names of all metrics of a running local stack: `node src/metrics/main.ts <SVC_DATA_DIR>`. Send requests of
 * every kind first (the README's tour), so that all labels appear. Alerts and dashboards are checked against this list.
 */
const TARGET = fileURLToPath(new URL('../../generated/metrics.yaml', import.meta.url));
const HEADER = '# Generated from a running stack by infra/observability/src/metrics/main.ts. Do not edit.\n';
const TIMEOUT_MS = 5_000;

const directory = process.argv[2];
if (directory === undefined) throw new Error('usage: node src/metrics/main.ts <SVC_DATA_DIR of a running stack>');
// The local stack writes this file, as its README documents.
const stack = JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8')) as {
  processes: Record<string, { internal_url?: string }>;
};

const catalog: MetricCatalog = {};
for (const [name, { internal_url: url }] of Object.entries(stack.processes).sort(([a], [b]) => (a < b ? -1 : 1))) {
  if (url === undefined) continue;
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  catalog[name] = parseMetricsText(await response.text());
}
const earlier = existsSync(TARGET) ? readCatalog(readFileSync(TARGET, 'utf8')) : {};
writeFileSync(TARGET, HEADER + renderCatalog(withEarlierLabels(catalog, earlier)));
console.log(`${Object.keys(catalog).join(', ')}: written to ${TARGET}`);

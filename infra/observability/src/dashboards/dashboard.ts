import { BUDGET_LEFT } from '../objectives.ts';

/** A graph: its queries, each with a legend. */
export interface Panel {
  readonly title: string;
  /** Shown in the panel's corner; states the normal range. */
  readonly description?: string;
  readonly unit: 'reqps' | 's' | 'd' | 'percentunit' | 'short' | 'bytes' | 'dateTimeFromNow';
  readonly queries: readonly Query[];
}

/** A PromQL expression and the name of its lines. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A page of graphs. */
export interface Dashboard {
  /** File name, and stable address in Grafana. */
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly { title: string; panels: readonly Panel[] }[];
}

const COLUMNS = 24;
const PANELS_PER_ROW = 3;
const PANEL_HEIGHT = 8;
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills in its own variable.
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Grafana's version of the format; it migrates older ones. */
const SCHEMA_VERSION = 39;

/** Renders a dashboard as JSON for Grafana's import. */
export const renderDashboard = ({ uid, title, rows }: Dashboard): object => {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({ id: panels.length + 1, type: 'row', title: row.title, gridPos: { x: 0, y, w: COLUMNS, h: 1 } });
    y += 1;
    const width = COLUMNS / PANELS_PER_ROW;
    for (const [index, panel] of row.panels.entries()) {
      const place = { x: (index % PANELS_PER_ROW) * width, y: y + Math.floor(index / PANELS_PER_ROW) * PANEL_HEIGHT };
      panels.push(renderPanel(panel, panels.length + 1, { ...place, w: width, h: PANEL_HEIGHT }));
    }
    y += Math.ceil(row.panels.length / PANELS_PER_ROW) * PANEL_HEIGHT;
  }
  return {
    uid: `svc-${uid}`,
    title,
    tags: ['svc'],
    schemaVersion: SCHEMA_VERSION,
    editable: false,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }] },
    panels,
  };
};

const renderPanel = (panel: Panel, id: number, gridPos: object): object => ({
  id,
  type: 'timeseries',
  title: panel.title,
  ...(panel.description === undefined ? {} : { description: panel.description }),
  datasource: DATASOURCE,
  gridPos,
  fieldConfig: {
    defaults: { unit: panel.unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } },
    overrides: [],
  },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  targets: panel.queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
  })),
});

/** Excludes probes and scrapes, which are not callers' requests. */
export const NOT_PROBES = 'operation!~"healthz|readyz|metrics"';
export const BY_OPERATION = '{{service}} {{operation}}';

export const quantile = (q: number, by: string, series: string): string =>
  `histogram_quantile(${q}, sum by (${by}, le) (rate(${series}[5m])))`;

export const single = (title: string, unit: Panel['unit'], expr: string, legend: string): Panel => ({
  title,
  unit,
  queries: [{ expr, legend }],
});

/** First row of each dashboard: the objectives that concern it. */
export const errorBudget = (objectives: string): Dashboard['rows'][number] => {
  const query = (series: string) => [{ expr: `${series}{objective=~"${objectives}"}`, legend: '{{objective}}' }];
  return {
    title: 'Error budget',
    panels: [
      {
        title: 'Left of 30 days',
        description: '0 % means that the objective is missed: docs/objectives.md.',
        unit: 'percentunit',
        queries: query(BUDGET_LEFT),
      },
      {
        title: 'Burn rate, 1 hour',
        description: '1 spends the budget in 30 days; above 14.4 an alert pages.',
        unit: 'short',
        queries: query('svc:objective:burn_rate1h'),
      },
      {
        title: 'Burn rate, 3 days',
        description: 'Above 1 the objective will be missed.',
        unit: 'short',
        queries: query('svc:objective:burn_rate3d'),
      },
    ],
  };
};

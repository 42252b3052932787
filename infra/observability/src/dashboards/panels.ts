import { BUDGET_LEFT } from '../objectives.ts';
import type { Dashboard, Panel } from './dashboard.ts';

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

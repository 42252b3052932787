import type { AlertRule, RuleGroup } from '../rules/alert-groups.ts';
import { runbookUrl } from '../rules/runbook-url.ts';
import { type Objective, objectives } from './objectives.ts';

/** A series that Prometheus records. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: { readonly objective: string };
}

/** Rules that Prometheus evaluates in their order, each group at its interval. */
export interface BurnRateGroup extends RuleGroup<RecordingRule | AlertRule> {
  readonly interval?: string;
}

const ALERT = 'ErrorBudgetBurning';
/** Period of the objectives: too long to be read again at every evaluation. */
const PERIOD = '30d';
const PERIOD_INTERVAL = '5m';

/**
 * Windows and burn rates of the Google SRE Workbook (chapter 5, "Alerting on SLOs"). A rate of 1 spends the budget in 30
 * days. The short window ends the alert soon after the failure ends.
 */
const BURNS = [
  { severity: 'page', rate: 14.4, long: '1h', short: '5m' },
  { severity: 'page', rate: 6, long: '6h', short: '30m' },
  { severity: 'ticket', rate: 1, long: '3d', short: '6h' },
] as const;
const WINDOWS = [...new Set(BURNS.flatMap(({ long, short }) => [short, long]))];

const burnRate = (window: string): string => `svc:objective:burn_rate${window}`;

/** Series of the last five minutes, from which all longer windows are averaged: raw ones of days are too many to read. */
const FAILURES = 'svc:objective:failures_rate5m';
const ALL = 'svc:objective:all_rate5m';
/** Share of the budget that is left; negative once the objective is missed. */
export const BUDGET_LEFT = 'svc:objective:budget_left';

/** Names of the recorded series, each with the label `objective`. */
export const recordedSeries: readonly string[] = [
  ...[FAILURES, ALL, BUDGET_LEFT],
  ...[...WINDOWS, PERIOD].map(burnRate),
];

/** Returns the rules that measure how fast error budgets are spent, and the alerts on them. */
export const burnRateGroups = (): BurnRateGroup[] => [
  {
    name: 'svc-burn-rates',
    rules: objectives.flatMap((objective) => [
      record(FAILURES, objective, objective.failures),
      record(ALL, objective, objective.all),
      ...WINDOWS.map((window) => recordBurnRate(objective, window)),
    ]),
  },
  {
    name: 'svc-error-budgets',
    interval: PERIOD_INTERVAL,
    rules: objectives.flatMap((objective) => [
      recordBurnRate(objective, PERIOD),
      record(BUDGET_LEFT, objective, `1 - ${burnRate(PERIOD)}{objective="${objective.id}"}`),
    ]),
  },
  { name: 'svc-objectives', rules: [alertOn('page'), alertOn('ticket')] },
];

const record = (name: string, { id }: Objective, expr: string): RecordingRule => ({
  record: name,
  expr,
  labels: { objective: id },
});

const recordBurnRate = (objective: Objective, window: string): RecordingRule => {
  const of = (series: string): string => {
    const selected = `${series}{objective="${objective.id}"}`;
    return window === '5m' ? selected : `avg_over_time(${selected}[${window}])`;
  };
  return record(burnRate(window), objective, `${of(FAILURES)} / ${of(ALL)} / ${objective.budget}`);
};

const alertOn = (severity: 'page' | 'ticket'): AlertRule => ({
  alert: ALERT,
  expr: BURNS.filter((burn) => burn.severity === severity)
    .map(({ rate, long, short }) => `(${burnRate(long)} > ${rate} and ${burnRate(short)} > ${rate})`)
    .join('\nor '),
  labels: { severity },
  annotations: {
    summary: `{{ $labels.objective }} spends its error budget {{ $value | printf "%.1f" }} times too fast.`,
    runbook_url: runbookUrl(ALERT, '{{ $labels.objective }}'),
  },
});

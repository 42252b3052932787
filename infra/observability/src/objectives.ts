import type { AlertRule, RuleGroup } from './rules/alert-groups.ts';
import { readAlertFiles, runbookUrl } from './rules/alert-groups.ts';

/** A promise to callers. Its error budget is the share of requests, or of minutes, that may break it within 30 days. */
interface Objective {
  /** Label of its series, and heading of its part of the runbook. */
  readonly id: string;
  readonly budget: number;
  readonly statement: string;
  /** PromQL for the failures now, and for all that may fail: requests a second, or 1 for each minute. */
  readonly failures: string;
  readonly all: string;
}

type Measured = Pick<Objective, 'failures' | 'all'>;

/**
 * Requests a second below which the missing ones count as good: at a few requests an hour, a single failure would page
 * the person on duty.
 */
const REQUESTS_PER_SECOND_MIN = 0.1;

const TOKEN = 'service="auth", operation="issueToken"';
const ADMISSION = 'service="billing", operation=~"admitRequests|askLeases"';
const INFERENCE = `service="inference-gateway", operation=~"${[
  ...['createChatCompletion', 'createCompletion', 'createEmbeddings', 'createResponse'],
  ...['createDelegatedChatCompletion', 'createDelegatedTranscription'],
].join('|')}"`;

/** Requests that end with one of these statuses. */
const failing = (selector: string, statuses: string): Measured =>
  requests(
    `sum(rate(http_requests_total{${selector}, status=~"${statuses}"}[5m]))`,
    `sum(rate(http_requests_total{${selector}}[5m]))`,
  );

/** Answered requests that take longer; the number of seconds is the bound of a bucket. */
const slowerThan = (seconds: number, selector: string): Measured => {
  const answered = `${selector}, status!~"5.."`;
  // Prometheus 3 writes the bound of a whole number as `30.0`.
  const bound = Number.isInteger(seconds) ? `le=~"${seconds}|${seconds}.0"` : `le="${seconds}"`;
  const all = `sum(rate(http_request_duration_seconds_count{${answered}}[5m]))`;
  return requests(`${all} - sum(rate(http_request_duration_seconds_bucket{${answered}, ${bound}}[5m]))`, all);
};

const requests = (failures: string, all: string): Measured => ({
  failures: `${failures} or vector(0)`,
  all: `clamp_min(${all}, ${REQUESTS_PER_SECOND_MIN})`,
});

/** Minutes in which an event is due for longer, or in which the dispatcher cannot tell. */
const eventsDueFor = (seconds: number): Measured => ({
  failures: `1 - (max(webhook_oldest_due_seconds) <= bool ${seconds})`,
  all: 'vector(1)',
});

/** The objectives, in the order in which docs/objectives.md states them. */
export const objectives: readonly Objective[] = [
  {
    id: 'token-availability',
    budget: 0.001,
    statement: 'token requests are not answered with 5xx',
    ...failing(TOKEN, '5..'),
  },
  {
    id: 'token-latency',
    budget: 0.01,
    statement: 'token requests are answered within 250 ms',
    ...slowerThan(0.25, TOKEN),
  },
  {
    id: 'admission-availability',
    budget: 0.0005,
    statement: 'admissions are decided: neither 5xx nor given up by the gateway',
    ...failing(ADMISSION, '5..|499'),
  },
  {
    id: 'admission-latency',
    budget: 0.01,
    statement: 'admissions are decided within 100 ms',
    ...slowerThan(0.1, ADMISSION),
  },
  {
    id: 'inference-availability',
    budget: 0.005,
    statement: 'inference requests are not answered with 5xx, providers’ failures included',
    ...failing(INFERENCE, '5..'),
  },
  {
    id: 'inference-latency',
    budget: 0.05,
    statement: 'inference requests end within 30 s, streams to their last byte',
    ...slowerThan(30, INFERENCE),
  },
  {
    id: 'webhook-availability',
    budget: 0.005,
    statement: 'minutes in which no event waits for its attempt for more than 60 s',
    ...eventsDueFor(60),
  },
  {
    id: 'webhook-latency',
    budget: 0.05,
    statement: 'minutes in which no event waits for its attempt for more than 5 s',
    ...eventsDueFor(5),
  },
];

/** A series that Prometheus records. */
interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels: { readonly objective: string };
}

/** Rules that Prometheus evaluates in their order, each group at its interval. */
interface BurnRateGroup extends RuleGroup<RecordingRule | AlertRule> {
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
const burnRateGroups = (): BurnRateGroup[] => [
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

/** Returns all rules that Prometheus loads: groups by file name. */
export const ruleFiles = (): Record<string, readonly BurnRateGroup[]> => ({
  ...readAlertFiles(),
  'objectives.yaml': burnRateGroups(),
});

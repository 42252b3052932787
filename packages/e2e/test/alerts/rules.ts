import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { durationSeconds, evaluate, type Moment, metricsOf } from './promql/evaluate.ts';
import { type Labels, labelsKey, type SeriesStore } from './promql/series.ts';

/** Folder of the alert rules that operators load. */
export const RULES = new URL('../../../../infra/observability/generated/rules/', import.meta.url).pathname;

/** An alert as its rule file states it. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Labels;
}

/** Burn rates look at days. Samples written for them fire these alerts in infra/observability/test/rules. */
const OF_DAYS = 'objectives.yaml';

/** Rule files by name. */
export const ruleFiles = readdirSync(RULES)
  .filter((file) => file !== OF_DAYS)
  .map((file) => ({
    file,
    // Validated by a schema in infra/kubernetes/test, and by promtool below.
    content: parse(readFileSync(`${RULES}${file}`, 'utf8')) as { groups: { name: string; rules: Rule[] }[] },
  }));

export const rules: readonly Rule[] = ruleFiles.flatMap(({ content }) =>
  content.groups.flatMap((group) => group.rules),
);

/** All metrics that alerts read. */
export const wantedMetrics: ReadonlySet<string> = new Set(rules.flatMap(({ expr }) => metricsOf(expr)));

/** A firing alert with the labels of its expression. */
export interface FiringAlert {
  readonly alert: string;
  readonly labels: Labels;
}

/** Evaluates all rules over time, like Prometheus. */
export interface RuleState {
  readonly evaluateAt: (at: number) => void;
  /** Alerts whose expression is true, regardless of `for`. */
  readonly active: () => string[];
  readonly firing: () => FiringAlert[];
}

/** Creates the state of rules that have not been evaluated yet. */
export const createRuleState = (store: SeriesStore, options: Pick<Moment, 'isStartIncluded'> = {}): RuleState => {
  const since = new Map<Rule, Map<string, { labels: Labels; at: number }>>();
  let now = 0;
  const elementsOf = (rule: Rule) => [...(since.get(rule)?.values() ?? [])];
  return {
    evaluateAt(at) {
      now = at;
      for (const rule of rules) {
        const before = since.get(rule);
        const found = evaluate(rule.expr, store, { ...options, at }).map(({ labels }) => {
          const key = labelsKey(labels);
          return [key, { labels, at: before?.get(key)?.at ?? at }] as const;
        });
        since.set(rule, new Map(found));
      }
    },
    active: () => rules.filter((rule) => elementsOf(rule).length > 0).map(({ alert }) => alert),
    firing: () =>
      rules.flatMap((rule) => {
        const held = rule.for === undefined ? 0 : durationSeconds(rule.for);
        return elementsOf(rule)
          .filter(({ at }) => now - at >= held)
          .map(({ labels }) => ({ alert: rule.alert, labels }));
      }),
  };
};

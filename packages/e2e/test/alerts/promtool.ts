import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Sample, SeriesStore } from './promql/series.ts';
import { createRuleState, RULES, ruleFiles, rules } from './rules.ts';
import { INTERVAL_SECONDS } from './watch.ts';

const TIMEOUT_MS = 60_000;

/** Returns true if Prometheus's tool is installed. */
export const hasPromtool = (): boolean => spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0;

/** Checks the rule files with promtool. Throws with its output on failure. */
export const checkRules = (): string =>
  execFileSync('promtool', ['check', 'rules', ...ruleFiles.map(({ file }) => `${RULES}${file}`)], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });

/**
 * Evaluates the rules over recorded samples with promtool, minute by minute. Returns its output if the alerts differ
 * from ours.
 */
export const testRules = (store: SeriesStore, minutes: number): string => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-promtool-'));
  try {
    // Annotations quote measured values, so only firing alerts and their labels are compared.
    const groups = ruleFiles.flatMap(({ content }) =>
      content.groups.map((group) => ({
        ...group,
        rules: group.rules.map(({ alert, expr, for: held, labels }) => ({
          alert,
          expr,
          labels,
          ...(held && { for: held }),
        })),
      })),
    );
    writeFileSync(join(folder, 'rules.yaml'), stringify({ groups }));
    writeFileSync(join(folder, 'test.yaml'), stringify(testFile(store, minutes), { lineWidth: 0 }));
    const told = spawnSync('promtool', ['test', 'rules', join(folder, 'test.yaml')], {
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
    return told.status === 0 ? '' : `${told.stdout}${told.stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const testFile = (store: SeriesStore, minutes: number) => ({
  rule_files: ['rules.yaml'],
  evaluation_interval: `${INTERVAL_SECONDS}s`,
  tests: [
    {
      interval: `${INTERVAL_SECONDS}s`,
      input_series: store.all().map(({ name, labels, samples }) => ({
        series: `${name}{${Object.entries(labels)
          .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
          .join(',')}}`,
        values: valuesOf(samples, minutes),
      })),
      alert_rule_test: expectations(store, minutes),
    },
  ],
});

/** Our alerts per minute, in the syntax of the installed release. */
const expectations = (store: SeriesStore, minutes: number) => {
  const version = spawnSync('promtool', ['--version'], { encoding: 'utf8' });
  const state = createRuleState(store, { isStartIncluded: /version [12]\./.test(version.stdout + version.stderr) });
  return Array.from({ length: minutes + 1 }, (_, minute) => minute).flatMap((minute) => {
    state.evaluateAt(minute * INTERVAL_SECONDS);
    const firing = state.firing();
    return rules.map((rule) => ({
      eval_time: `${minute}m`,
      alertname: rule.alert,
      exp_alerts: firing
        .filter(({ alert }) => alert === rule.alert)
        .map(({ labels }) => ({ exp_labels: { ...labels, ...rule.labels } })),
    }));
  });
};

/** One value per minute from the first: `_` for none, `stale` for the end of the series. */
const valuesOf = (samples: readonly Sample[], minutes: number): string => {
  const values = Array.from({ length: minutes + 1 }, () => '_');
  for (const { at, value } of samples) values[at / INTERVAL_SECONDS] = value === undefined ? 'stale' : String(value);
  return values.map((value) => value.replace('Infinity', 'Inf')).join(' ');
};

import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const SETTINGS = new URL('../../settings.yaml', import.meta.url);
const settingsSchema = z.strictObject({ runbooks_url: z.url({ protocol: /^https$/ }).regex(/[^/]$/) });

/** Address of the folder of runbooks, as this copy publishes it. */
export const RUNBOOKS_URL = settingsSchema.parse(parse(readFileSync(SETTINGS, 'utf8'))).runbooks_url;

/** Returns the address of an alert's page, which is named after the alert. */
export const runbookUrl = (alert: string, heading?: string): string =>
  `${RUNBOOKS_URL}/${kebabCase(alert)}.md${heading === undefined ? '' : `#${heading}`}`;

const kebabCase = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();

const ALERTS = new URL('../../alerts/', import.meta.url);

const alertSchema = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+m$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string() }),
});
const ruleFileSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertSchema) })),
});

/** An alert of `alerts/`, with the address of its runbook. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string | undefined;
  readonly labels: { readonly severity: 'page' | 'ticket' };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

export interface RuleGroup<R> {
  readonly name: string;
  readonly rules: readonly R[];
}

/** Rule groups by file. Throws for a file of another form. */
export const readAlertFiles = (): Record<string, readonly RuleGroup<AlertRule>[]> =>
  Object.fromEntries(
    readdirSync(ALERTS)
      .sort()
      .map((file) => [file, readGroups(file)]),
  );

const readGroups = (file: string): RuleGroup<AlertRule>[] => {
  const { groups } = ruleFileSchema.parse(parse(readFileSync(new URL(file, ALERTS), 'utf8')));
  return groups.map(({ name, rules }) => ({
    name,
    rules: rules.map(({ annotations, ...rule }) => ({
      ...rule,
      annotations: { ...annotations, runbook_url: runbookUrl(rule.alert) },
    })),
  }));
};

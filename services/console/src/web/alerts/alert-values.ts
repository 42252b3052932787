import type { AlertSettings, ValidationIssue } from '@svc/contracts';
import { type Messages, parseAmount, typedAmount } from '../i18n/index.ts';
import { fault } from '../ui/index.ts';

/** The form of alerts, as typed. */
export interface AlertValues {
  /** Percentages to choose from, ascending. */
  readonly offered: readonly number[];
  readonly thresholds_percent: readonly number[];
  /** A percentage to add. */
  readonly another: string;
  /** Empty if there is no alert. */
  readonly wallet_below_micros: string;
}

const USUAL_PERCENT = [50, 75, 80, 90, 100] as const;
const THRESHOLDS_MAX = 20;

const sorted = (percents: Iterable<number>): number[] => [...new Set(percents)].sort((one, other) => one - other);

export const valuesOf = ({ thresholds_percent, wallet_below_micros }: AlertSettings): AlertValues => ({
  offered: sorted([...USUAL_PERCENT, ...thresholds_percent]),
  thresholds_percent,
  another: '',
  wallet_below_micros: wallet_below_micros === null ? '' : typedAmount(wallet_below_micros),
});

/** Selects a percentage, or deselects it. */
export const toggle = (values: AlertValues, percent: number): readonly number[] =>
  values.thresholds_percent.includes(percent)
    ? values.thresholds_percent.filter((chosen) => chosen !== percent)
    : sorted([...values.thresholds_percent, percent]);

/** Adds and selects the typed percentage. Without one, returns the values unchanged. */
export const addTyped = (values: AlertValues): AlertValues => {
  const percent = parsePercent(values.another);
  if (percent === undefined) return values;
  return {
    ...values,
    offered: sorted([...values.offered, percent]),
    thresholds_percent: sorted([...values.thresholds_percent, percent]),
    another: '',
  };
};

/** Returns the faults of the typed percentage. */
export const checkTyped = (values: AlertValues, { notAPercentage, tooMany }: Messages['alerts']): ValidationIssue[] => {
  if (values.another.trim() === '') return [];
  if (parsePercent(values.another) === undefined) return [fault('another', notAPercentage)];
  const count = addTyped(values).thresholds_percent.length;
  return count > THRESHOLDS_MAX ? [fault('another', tooMany(THRESHOLDS_MAX))] : [];
};

export const checkAlerts = (values: AlertValues, { alerts, faults }: Messages): ValidationIssue[] => [
  ...checkTyped(values, alerts),
  ...(values.wallet_below_micros.trim() === '' || (parseAmount(values.wallet_below_micros) ?? 0) > 0
    ? []
    : [fault('wallet_below_micros', faults.amount)]),
];

/** Returns the settings of a form, including a typed percentage that is not added yet. */
export const toSettings = (values: AlertValues): AlertSettings => ({
  thresholds_percent: [...addTyped(values).thresholds_percent],
  wallet_below_micros: parseAmount(values.wallet_below_micros) ?? null,
});

const parsePercent = (text: string): number | undefined => {
  const percent = /^\s*(\d{1,3})\s*%?\s*$/.exec(text)?.[1];
  return percent === undefined || Number(percent) < 1 || Number(percent) > 100 ? undefined : Number(percent);
};

import type { AutoTopUp, Locale, ValidationIssue } from '@svc/contracts';
import { parseAmount, typedAmount } from '../i18n/index.ts';
import { checkText, fault } from '../ui/index.ts';

/** Least and greatest top-up, in micro-units. */
export const TOP_UP_MICROS = { min: 1_000_000, max: 10_000_000_000 } as const;

/** The faults of a top-up as typed. */
export const checkTopUp = (
  text: string,
  texts: { notAnAmount: string; tooLittle: string; tooMuch: string },
): ValidationIssue[] => {
  const missing = checkText('amount_micros', text, { required: true });
  if (missing.length > 0) return missing;
  const amount = parseAmount(text);
  if (amount === undefined) return [fault('amount_micros', texts.notAnAmount)];
  if (amount < TOP_UP_MICROS.min) return [fault('amount_micros', texts.tooLittle)];
  return amount > TOP_UP_MICROS.max ? [fault('amount_micros', texts.tooMuch)] : [];
};

/** The form of automatic top-ups, as typed. */
export interface AutoTopUpValues {
  readonly below_micros: string;
  readonly amount_micros: string;
  readonly monthly_max_micros: string;
}

/** Faults of an amount, in words. */
interface AmountFaults {
  readonly notAnAmount: string;
  readonly tooLittle: string;
  readonly tooMuch: string;
  /** The ceiling of a month does not pay for one top-up. */
  readonly belowOneTopUp: string;
}

export const valuesOf = (
  { below_micros, amount_micros, monthly_max_micros }: AutoTopUp,
  locale: Locale,
): AutoTopUpValues => ({
  below_micros: typedAmount(below_micros, locale),
  amount_micros: typedAmount(amount_micros, locale),
  monthly_max_micros: typedAmount(monthly_max_micros, locale),
});

export const checkAutoTopUp = (values: AutoTopUpValues, faults: AmountFaults): ValidationIssue[] => {
  const below = parseAmount(values.below_micros) ?? 0;
  const ceilingIssues = checkAmount('monthly_max_micros', values.monthly_max_micros, faults.notAnAmount);
  const amount = parseAmount(values.amount_micros) ?? 0;
  const isTooLow = ceilingIssues.length === 0 && (parseAmount(values.monthly_max_micros) ?? 0) < amount;
  return [
    ...checkAmount('below_micros', values.below_micros, faults.notAnAmount),
    ...(below > TOP_UP_MICROS.max ? [fault('below_micros', faults.tooMuch)] : []),
    ...checkTopUp(values.amount_micros, faults),
    ...ceilingIssues,
    ...(isTooLow ? [fault('monthly_max_micros', faults.belowOneTopUp)] : []),
  ];
};

/** Returns the settings of a form, turned on. */
export const toAutoTopUp = (values: AutoTopUpValues): AutoTopUp => ({
  enabled: true,
  below_micros: parseAmount(values.below_micros) ?? 0,
  amount_micros: parseAmount(values.amount_micros) ?? 0,
  monthly_max_micros: parseAmount(values.monthly_max_micros) ?? 0,
});

const checkAmount = (path: keyof AutoTopUpValues, text: string, notAnAmount: string): ValidationIssue[] => {
  const missing = checkText(path, text, { required: true });
  if (missing.length > 0 || parseAmount(text) !== undefined) return missing;
  return [fault(path, notAnAmount)];
};

import type { ValidationIssue } from '@svc/contracts';
import { parseAmount } from '../i18n/index.ts';
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

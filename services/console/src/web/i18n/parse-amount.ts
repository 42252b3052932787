import { decimalOf } from '@svc/contracts/format-money';

const AMOUNT = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;
const MICROS_PER_CENT = 10_000;

/** Reads an amount as people type it, with a comma or a point and at most two decimals, in micro-units; undefined for anything else. */
export const parseAmount = (text: string): number | undefined => {
  const [, whole, cents = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return (Number(whole) * 100 + Number(cents.padEnd(2, '0'))) * MICROS_PER_CENT;
};

/** Writes micro-units as a person types them: `12.5`. */
export const typedAmount = (micros: number): string => decimalOf(micros).replace(/\.?0+$/, '');

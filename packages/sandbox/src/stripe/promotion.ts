import { toPayable } from '@svc/contracts';

/** Promotion codes of the sandbox, and the percentage of the first payment that each takes off. */
const PERCENT_OFF: Readonly<Record<string, number>> = { WELCOME20: 20, FIRSTFREE: 100 };

/** A promotion code, and what it takes off a price. */
export interface Promotion {
  readonly code: string;
  readonly discountMicros: number;
}

/** Applies a code as it was typed. Returns undefined for an unknown one. */
export const toPromotion = (
  typed: string,
  { amountMicros, currency }: { readonly amountMicros: number; readonly currency: string },
): Promotion | undefined => {
  const code = typed.trim().toUpperCase();
  const percent = Object.hasOwn(PERCENT_OFF, code) ? PERCENT_OFF[code] : undefined;
  return percent === undefined
    ? undefined
    : { code, discountMicros: toPayable((amountMicros * percent) / 100, currency) };
};

import { type MinorUnit, minorUnitOf } from '@svc/contracts';

/** A sum of money. */
export interface Payment {
  readonly amountMicros: number;
  /** ISO 4217 code in upper case. */
  readonly currency: string;
}

/** Returns how Stripe counts a currency. Throws RangeError if that is not known. */
export const requireMinorUnit = (currency: string): MinorUnit => {
  const unit = minorUnitOf(currency);
  if (unit === undefined) throw new RangeError(`the minor unit of ${currency} is not known`);
  return unit;
};

/** Converts an amount to Stripe's minor units. Throws RangeError if Stripe cannot charge exactly this amount. */
export const toMinorUnits = ({ amountMicros, currency }: Payment): number => {
  const { micros, stepMicros } = requireMinorUnit(currency);
  if (amountMicros % stepMicros !== 0) throw new RangeError(`${amountMicros} micros of ${currency} cannot be charged`);
  return amountMicros / micros;
};

/** Converts an amount of Stripe; null without an amount, or in a currency whose minor unit is not known. */
export const toPayment = (amount: number | null | undefined, currency: string | null | undefined): Payment | null => {
  if (typeof amount !== 'number' || typeof currency !== 'string') return null;
  const code = currency.toUpperCase();
  const unit = minorUnitOf(code);
  return unit === undefined ? null : { amountMicros: amount * unit.micros, currency: code };
};

import { type MinorUnit, minorUnitOf } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';

/** A sum of money. */
export interface Payment {
  readonly amountMicros: number;
  /** ISO 4217 code in upper case. */
  readonly currency: string;
}

/** Returns how Stripe counts a currency. Throws RangeError if that is not known. */
const requireMinorUnit = (currency: string): MinorUnit => {
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

const LOC = ['body', 'amount_micros'];
/** In euros, Stripe's own minimum is about half of this, but fees would consume most of such a payment. */
const TOP_UP_MICROS_MIN = 1_000_000;

/** Throws 422 for the amount of a top-up that is too small, or that Stripe cannot charge. */
export const checkPayable = (currency: string, amountMicros: number): void => {
  if (amountMicros < TOP_UP_MICROS_MIN) {
    throw invalidField(LOC, 'greater_than_equal', `Input should be greater than or equal to ${TOP_UP_MICROS_MIN}`);
  }
  checkStep(currency, amountMicros);
};

/** Throws 422 for an amount that is not a whole number of the currency's minor units. */
export const checkStep = (currency: string, amountMicros: number): void => {
  const { stepMicros } = requireMinorUnit(currency);
  if (amountMicros % stepMicros === 0) return;
  throw invalidField(LOC, 'value_error', `Value error, must be a whole number of ${stepMicros} micros`);
};

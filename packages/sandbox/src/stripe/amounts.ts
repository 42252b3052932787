import { minorUnitOf } from '@svc/contracts';

const microsPerMinor = (currency: string): number => {
  const unit = minorUnitOf(currency.toUpperCase());
  if (unit === undefined) throw new RangeError(`the minor unit of ${currency} is not known`);
  return unit.micros;
};

/** Converts an amount in Stripe's minor units to micros. */
export const toMicros = (amount: number, currency: string): number => amount * microsPerMinor(currency);

/** Converts micros to Stripe's minor units. */
export const toMinor = (micros: number, currency: string): number => micros / microsPerMinor(currency);

/** Converts Stripe's seconds to a date. */
export const toDate = (seconds: number): Date => new Date(seconds * 1000);

/** Converts a date to Stripe's seconds. */
export const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Stripe counts money in hundredths of the currency's unit. */
export const MICROS_PER_MINOR_UNIT = 10_000;

/** Converts micros to Stripe's minor units. Throws RangeError if the amount is not a whole number of them. */
export const toMinorUnits = (amountMicros: number): number => {
  if (amountMicros % MICROS_PER_MINOR_UNIT !== 0) throw new RangeError(`${amountMicros} micros are not whole cents`);
  return amountMicros / MICROS_PER_MINOR_UNIT;
};

/** Stripe counts money in hundredths of the currency's unit. */
export const MICROS_PER_MINOR_UNIT = 10_000;

/** An amount as Stripe counts it. Throws RangeError for one that is not a whole number of hundredths. */
export const toMinorUnits = (amountMicros: number): number => {
  if (amountMicros % MICROS_PER_MINOR_UNIT !== 0) throw new RangeError(`${amountMicros} micros are no whole cents`);
  return amountMicros / MICROS_PER_MINOR_UNIT;
};

const MICROS_PER_UNIT = 1_000_000;
const MICROS_PER_CENT = 10_000;

/** Formats micros in whole cents, rounded down. An amount below a cent keeps its digits. */
export const formatMoney = (micros: number, currency: string, locale: string): string => {
  const isSmall = micros > 0 && micros < MICROS_PER_CENT;
  const shown = isSmall ? micros : Math.floor(micros / MICROS_PER_CENT) * MICROS_PER_CENT;
  const fraction = isSmall ? 6 : 2;
  const options = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: fraction } as const;
  return new Intl.NumberFormat(locale, options).format(shown / MICROS_PER_UNIT);
};

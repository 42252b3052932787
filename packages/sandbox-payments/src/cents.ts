/** Taxes, discounts and parts of a price are rounded to hundredths of the currency. */
const CENT_MICROS = 10_000;

export const toWholeCents = (micros: number): number => Math.round(micros / CENT_MICROS) * CENT_MICROS;

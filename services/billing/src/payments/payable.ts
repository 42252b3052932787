import { invalidField } from '@svc/service-kit';
import { requireMinorUnit } from './stripe/index.ts';

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

import type { SandboxCard } from '@svc/contracts';
import type { PaymentMethod, StripeObjects } from './objects.ts';

/** Last digits of the test cards. They say what becomes of payments, as those of Stripe's do. */
const LAST_DIGITS: Readonly<Record<SandboxCard, string>> = {
  succeeds: '4242',
  asks_to_confirm: '3184',
  declines_renewals: '0341',
  declines: '0002',
};

/** Card names, the same in every language. */
export const CARD_NAMES: Readonly<Record<SandboxCard, string>> = {
  succeeds: `Visa •••• ${LAST_DIGITS.succeeds}`,
  asks_to_confirm: `Visa •••• ${LAST_DIGITS.asks_to_confirm}`,
  declines_renewals: `Visa •••• ${LAST_DIGITS.declines_renewals}`,
  declines: `Visa •••• ${LAST_DIGITS.declines}`,
};

/** Saves a card of a customer, and returns its id. */
export const saveCard = (objects: StripeObjects, customer: string, card: SandboxCard): string =>
  objects.put('payment_method', 'pm', {
    type: 'card',
    customer,
    card: { brand: 'visa', last4: LAST_DIGITS[card] },
  }).id;

/** Returns the test card of a payment method. One that was added without digits pays. */
export const cardOf = (method: PaymentMethod | undefined): SandboxCard => {
  const digits = method?.card?.last4;
  const found = Object.entries(LAST_DIGITS).find(([, last]) => last === digits)?.[0];
  // It is a key of the table above.
  return (found as SandboxCard | undefined) ?? 'succeeds';
};

import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import { paysUnattended } from './fall-due.ts';
import { clockOf } from './hosted-subscription.ts';
import { findPrice, invoiceSubscription } from './invoice-change.ts';
import type { Fields, Subscription } from './objects.ts';
import { changeQuantity } from './plan-change.ts';
import { CardError, Refusal } from './refusals.ts';
import { saveHosted, toHosted } from './subscriptions.ts';

/** Returns the quantity that an update of a subscription asks for; undefined if it asks for none. */
export const quantityOf = ({ items }: Fields): number | undefined => {
  // Parsed from a form: items have the members that the request names.
  const [item] = (Array.isArray(items) ? items : []) as { readonly quantity?: string }[];
  return item?.quantity === undefined ? undefined : Number(item.quantity);
};

/** Changes the quantity of a subscription, and charges the saved card for more. Throws CardError if the card declines. */
export const updateQuantity = (account: Account, subscription: Subscription, quantity: number): void => {
  const before = toHosted(account, subscription);
  const price = findPrice(account, { ...before, quantity: 1 });
  if (price === undefined) throw new Refusal('resource_missing', 'items[0][price]');
  const at = clockOf(before, nowOf(account));
  const { changed, dueMicros } = changeQuantity(before, { quantity, price }, at);
  if (dueMicros > 0 && !paysUnattended(before.card)) throw new CardError('card_declined', subscription);
  saveHosted(account, changed);
  if (dueMicros > 0) invoiceSubscription(account, changed, { ...price, amountMicros: dueMicros, start: at, at });
};

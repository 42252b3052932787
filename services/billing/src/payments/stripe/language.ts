import type { Locale } from '@svc/contracts';
import type { Stripe } from 'stripe';
import { askStripe } from './stripe-client.ts';

type TopUpKind = 'bought' | 'automatic';

/** Names of top-ups on checkouts, payments and invoices. Stripe translates the rest. */
export const TOP_UP_NAMES: Readonly<Record<TopUpKind, Readonly<Record<Locale, string>>>> = {
  bought: { it: 'Ricarica del portafoglio', en: 'Wallet top-up' },
  automatic: { it: 'Ricarica automatica del portafoglio', en: 'Automatic wallet top-up' },
};

/** Makes Stripe write the customer's invoices and mails in the language of the account. */
export const preferLocale = async (stripe: Stripe, customer: string, locale: Locale): Promise<void> => {
  await askStripe(() => stripe.customers.update(customer, { preferred_locales: [locale] }));
};

/** Returns the language that the account preferred last. */
export const localeOf = ({ preferred_locales: preferred }: Stripe.Customer): Locale =>
  preferred?.[0] === 'it' ? 'it' : 'en';

/** Returns the language in which to write to a customer. */
export const findLocale = async (stripe: Stripe, customerId: string): Promise<Locale> => {
  const customer = await askStripe(() => stripe.customers.retrieve(customerId));
  return customer.deleted === true ? 'en' : localeOf(customer);
};

import type { Locale } from '@svc/contracts';
import type { Stripe } from 'stripe';
import { askForOne } from './stripe-client.ts';

type TopUpKind = 'bought' | 'automatic';

/** Names of top-ups on checkouts, payments and invoices. Stripe translates the rest. */
export const TOP_UP_NAMES: Readonly<Record<TopUpKind, Readonly<Record<Locale, string>>>> = {
  bought: { it: 'Ricarica del portafoglio', en: 'Wallet top-up' },
  automatic: { it: 'Ricarica automatica del portafoglio', en: 'Automatic wallet top-up' },
};

/**
 * Makes Stripe write the customer's invoices and mails in the language of the account. Returns false if Stripe does not
 * know the customer.
 */
export const preferLocale = async (stripe: Stripe, customer: string, locale: Locale): Promise<boolean> =>
  (await askForOne(() => stripe.customers.update(customer, { preferred_locales: [locale] }))) !== undefined;

/** Returns the language that the account preferred last. */
export const localeOf = ({ preferred_locales: preferred }: Stripe.Customer): Locale =>
  preferred?.[0] === 'it' ? 'it' : 'en';

import type { Locale } from '@svc/contracts';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import { askForOne, askStripe, isMissingCustomer, keySince, type StripeDeps } from './stripe-client.ts';

export const findCustomerId = async (database: Knex, userId: string): Promise<string | undefined> => {
  const row = await database('stripe_customers').where({ svc_user_id: userId }).first('customer_id');
  return row?.customer_id;
};

export const findUserByCustomer = async (database: Knex, customerId: string): Promise<string | undefined> => {
  const row = await database('stripe_customers').where({ customer_id: customerId }).first('svc_user_id');
  return row?.svc_user_id;
};

/** Stores the Stripe customer of an account, unless one is stored already. Returns the stored one. */
export const insertCustomer = async (database: Knex, userId: string, customerId: string): Promise<string> => {
  // Concurrent calls insert the same customer. A conflict target would ignore only one of the two unique indexes.
  await database('stripe_customers').insert({ svc_user_id: userId, customer_id: customerId }).onConflict().ignore();
  return (await findCustomerId(database, userId)) ?? customerId;
};

/** Stores a new customer in place of one that is gone, unless that was replaced already. Returns the stored one. */
const replaceCustomer = async (
  database: Knex,
  userId: string,
  { gone, created }: { readonly gone: string; readonly created: string },
): Promise<string> => {
  await database('stripe_customers').where({ svc_user_id: userId, customer_id: gone }).update({ customer_id: created });
  return (await findCustomerId(database, userId)) ?? created;
};

export const deleteCustomer = async (database: Knex, userId: string): Promise<void> => {
  await database('stripe_customers').where({ svc_user_id: userId }).delete();
};

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
const preferLocale = async (stripe: Stripe, customer: string, locale: Locale): Promise<boolean> =>
  (await askForOne(() => stripe.customers.update(customer, { preferred_locales: [locale] }))) !== undefined;

/** Returns the language that the account preferred last. */
export const localeOf = ({ preferred_locales: preferred }: Stripe.Customer): Locale =>
  preferred?.[0] === 'it' ? 'it' : 'en';

/** Customers of one account. */
const CUSTOMERS_MAX = 100;

/**
 * Runs a call with the customer of an account, which is created at the first one. Stripe may not know the stored customer
 * any more: deleted in the dashboard, or of another key. Then the account gets a new one, and the call is repeated once.
 */
export const withCustomer = async <T>(
  deps: StripeDeps,
  { userId, locale }: { readonly userId: string; readonly locale?: Locale | undefined },
  use: (customer: string, isNew: boolean) => Promise<T>,
): Promise<T> => {
  const attempt = async (customer: string, isNew: boolean): Promise<{ readonly result: T } | 'missing'> => {
    if (locale !== undefined && !(await preferLocale(deps.stripe, customer, locale))) return 'missing';
    try {
      return { result: await use(customer, isNew) };
    } catch (error) {
      if (isMissingCustomer(error)) return 'missing';
      throw error;
    }
  };
  const known = await ensureCustomer(deps, userId);
  const first = await attempt(known, false);
  if (first !== 'missing') return first.result;
  const second = await attempt(await renewCustomer(deps, userId, known), true);
  if (second === 'missing') throw new Error('Stripe does not know a customer that it has just created');
  return second.result;
};

/** Finds the customer of an account at Stripe; undefined without one, or if it was deleted there. */
export const findCustomer = async (
  { database, stripe }: StripeDeps,
  userId: string,
): Promise<Stripe.Customer | undefined> => {
  const id = await findCustomerId(database, userId);
  if (id === undefined) return undefined;
  const customer = await askForOne(() => stripe.customers.retrieve(id));
  return customer === undefined || customer.deleted === true ? undefined : customer;
};

const ensureCustomer = async (deps: StripeDeps, userId: string): Promise<string> => {
  const { database } = deps;
  const known = await findCustomerId(database, userId);
  if (known !== undefined) return known;
  return insertCustomer(database, userId, await createCustomer(deps, userId, undefined));
};

/** Replaces a customer that is gone. Calls at the same time create and store the same one. */
const renewCustomer = async (deps: StripeDeps, userId: string, gone: string): Promise<string> =>
  replaceCustomer(deps.database, userId, { gone, created: await createCustomer(deps, userId, gone) });

/** Creates a customer, unless an earlier attempt did whose answer was lost. */
const createCustomer = async (deps: StripeDeps, userId: string, gone: string | undefined): Promise<string> => {
  const { stripe, clock } = deps;
  const lookedAt = clock();
  const made = await findMade(deps, userId, gone);
  if (made !== undefined) return made;
  // Without the former id, the key would return the answer of the first creation for a day.
  const key = gone === undefined ? `customer-${userId}` : `customer-${userId}-${gone}`;
  const { id } = await askStripe(() =>
    stripe.customers.create({ metadata: { svc_user_id: userId } }, { idempotencyKey: keySince(key, lookedAt) }),
  );
  return id;
};

/**
 * Finds the oldest customer of an account, but for one that is gone. Stripe's lists have no filter for metadata, and its
 * search finds a customer only some minutes after the creation. Until then, the idempotency key returns it.
 */
const findMade = async (
  { stripe }: StripeDeps,
  userId: string,
  gone: string | undefined,
): Promise<string | undefined> => {
  const query = `metadata['svc_user_id']:'${userId}'`;
  const found = await askStripe(() => stripe.customers.search({ query, limit: CUSTOMERS_MAX }));
  const [oldest] = found.data.filter(({ id }) => id !== gone).toSorted((one, other) => one.created - other.created);
  return oldest?.id;
};

import type { Knex } from 'knex';

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
export const replaceCustomer = async (
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

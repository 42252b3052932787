import type { Knex } from 'knex';

/** The customer at Stripe that stands for an account. */
export const findCustomerId = async (database: Knex, userId: string): Promise<string | undefined> => {
  const row = await database('stripe_customers').where({ svc_user_id: userId }).first('customer_id');
  return row?.customer_id;
};

/** The account for which a customer at Stripe stands. */
export const findUserByCustomer = async (database: Knex, customerId: string): Promise<string | undefined> => {
  const row = await database('stripe_customers').where({ customer_id: customerId }).first('svc_user_id');
  return row?.svc_user_id;
};

/** Remembers a customer; the first one remembered for an account stays, and is answered. */
export const insertCustomer = async (database: Knex, userId: string, customerId: string): Promise<string> => {
  // Stripe gives the same customer to all that ask at one time: where one index alone were named, the other could still refuse them.
  await database('stripe_customers').insert({ svc_user_id: userId, customer_id: customerId }).onConflict().ignore();
  return (await findCustomerId(database, userId)) ?? customerId;
};

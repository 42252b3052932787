import type { Knex } from 'knex';

/** Which customer at Stripe is which account. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE stripe_customers (
      svc_user_id text PRIMARY KEY,
      customer_id text NOT NULL CONSTRAINT stripe_customers_once UNIQUE
    );
  `);
}

import type { Knex } from 'knex';

/**
 * Prices and products at Stripe, and the plans that they stand for. A price stays here when its plan gets another one: who
 * bought at the old price goes on paying it. `plan_id` is null for a product of several plans, which says nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE stripe_catalog (
      stripe_id text PRIMARY KEY,
      plan_id text REFERENCES plans (id)
    );
    INSERT INTO stripe_catalog (stripe_id, plan_id)
      SELECT DISTINCT ON (stripe_price_id) stripe_price_id, id FROM plans WHERE stripe_price_id IS NOT NULL
      ORDER BY stripe_price_id, is_offered DESC, updated_at DESC;
  `);
}

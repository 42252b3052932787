import type { Knex } from 'knex';

/** What the sandbox payment provider knows. It plays another company: nothing else of billing reads these tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE sandbox_subscriptions (
      id text PRIMARY KEY,
      customer text NOT NULL,
      plan_id text NOT NULL,
      interval text NOT NULL CHECK (interval IN ('month', 'year')),
      status text NOT NULL,
      anchor timestamptz NOT NULL,
      period_start timestamptz NOT NULL,
      period_end timestamptz NOT NULL,
      cancel_at_period_end boolean NOT NULL DEFAULT false,
      ended_at timestamptz,
      was_reverted boolean NOT NULL DEFAULT false,
      -- A change of which billing has not been told yet: the sandbox's undelivered event.
      is_announced boolean NOT NULL DEFAULT false
    );
    CREATE INDEX sandbox_subscriptions_by_customer ON sandbox_subscriptions (customer);
    CREATE INDEX sandbox_subscriptions_due ON sandbox_subscriptions (period_end)
      WHERE status IN ('active', 'trialing');
    CREATE INDEX sandbox_subscriptions_unannounced ON sandbox_subscriptions (id) WHERE NOT is_announced;

    CREATE TABLE sandbox_sessions (
      id text PRIMARY KEY,
      customer text NOT NULL,
      description text NOT NULL,
      plan_id text,
      interval text CHECK ((interval IS NOT NULL) = (plan_id IS NOT NULL)),
      amount_micros bigint NOT NULL,
      currency text NOT NULL,
      success_url text NOT NULL,
      cancel_url text NOT NULL,
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'complete')),
      subscription_id text REFERENCES sandbox_subscriptions (id),
      was_declined boolean NOT NULL DEFAULT false,
      expires_at timestamptz NOT NULL,
      is_announced boolean NOT NULL DEFAULT true
    );
    CREATE INDEX sandbox_sessions_unannounced ON sandbox_sessions (id) WHERE NOT is_announced;

    CREATE TABLE sandbox_portal_sessions (
      id text PRIMARY KEY,
      customer text NOT NULL,
      return_url text NOT NULL,
      expires_at timestamptz NOT NULL
    );
  `);
}

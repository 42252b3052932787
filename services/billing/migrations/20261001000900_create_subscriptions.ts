import type { Knex } from 'knex';

/** Subscriptions as the payment provider last told of them, and the checkouts through which anything is bought. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row per account that has ever bought something; locked first by whatever changes a subscription of it.
    CREATE TABLE customers (
      svc_user_id text PRIMARY KEY,
      -- Grows by one with each fact about the account's subscription, over all its subscriptions.
      revision int NOT NULL DEFAULT 0,
      current_subscription_id text,
      created_at timestamptz NOT NULL
    );

    CREATE TABLE subscriptions (
      id text PRIMARY KEY,
      svc_user_id text NOT NULL REFERENCES customers (svc_user_id),
      provider text NOT NULL CHECK (provider IN ('sandbox', 'stripe')),
      provider_subscription_id text NOT NULL,
      -- Taken before the provider was asked: an answer with an earlier ticket than the one applied last is stale.
      provider_ticket bigint NOT NULL,
      status text NOT NULL CHECK (status IN (
        'incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'canceled', 'unpaid', 'paused')),
      plan_id text NOT NULL REFERENCES plans (id),
      anchor timestamptz NOT NULL,
      current_period_start timestamptz NOT NULL,
      current_period_end timestamptz NOT NULL CHECK (current_period_end > current_period_start),
      cancel_at_period_end boolean NOT NULL,
      past_due_since timestamptz CHECK ((past_due_since IS NOT NULL) = (status = 'past_due')),
      ended_at timestamptz CHECK ((ended_at IS NOT NULL) = (status IN ('canceled', 'unpaid', 'incomplete_expired'))),
      revision int NOT NULL CHECK (revision >= 1),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT subscriptions_of_provider UNIQUE (provider, provider_subscription_id)
    );
    -- Whatever races whom, an account has one live subscription.
    CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions (svc_user_id)
      WHERE status NOT IN ('canceled', 'unpaid', 'incomplete_expired');
    CREATE SEQUENCE provider_tickets;

    CREATE TABLE checkout_sessions (
      id text PRIMARY KEY,
      svc_user_id text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('subscription', 'top_up')),
      plan_id text REFERENCES plans (id) CHECK ((plan_id IS NOT NULL) = (kind = 'subscription')),
      amount_micros bigint CHECK (amount_micros > 0) CHECK ((amount_micros IS NOT NULL) = (kind = 'top_up')),
      provider text NOT NULL CHECK (provider IN ('sandbox', 'stripe')),
      -- Null until the provider has answered; a session that never got one was never shown to anybody.
      provider_session_id text,
      -- void: paid when another subscription was live already, and so ended again at the provider.
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'complete', 'expired', 'void')),
      subscription_id text REFERENCES subscriptions (id),
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      completed_at timestamptz CHECK ((completed_at IS NOT NULL) = (status IN ('complete', 'void'))),
      CONSTRAINT checkout_sessions_of_provider UNIQUE (provider, provider_session_id)
    );
    CREATE INDEX checkout_sessions_by_account ON checkout_sessions (svc_user_id, id);
  `);
}

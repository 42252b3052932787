import type { Knex } from 'knex';

/** Creates the schema `sandbox_payments`. The database that hosts the sandbox calls it once, in a separate migration. */
export const sandboxPaymentsMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE SCHEMA sandbox_payments;

    -- Not now(): a caller that has waited for a lock needs the time after it.
    CREATE FUNCTION sandbox_payments.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

    CREATE TABLE sandbox_payments.subscriptions (
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
      card text NOT NULL DEFAULT 'succeeds'
        CHECK (card IN ('succeeds', 'asks_to_confirm', 'declines_renewals', 'declines')),
      when_unpaid text NOT NULL DEFAULT 'canceled' CHECK (when_unpaid IN ('canceled', 'unpaid')),
      -- Seconds that its own clock is ahead of the real one.
      clock_ahead_seconds bigint NOT NULL DEFAULT 0 CHECK (clock_ahead_seconds >= 0),
      failed_attempts int NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
      next_attempt_at timestamptz,
      -- False until the listener knows of the latest change: the sandbox's undelivered event.
      is_announced boolean NOT NULL DEFAULT false
    );
    CREATE INDEX subscriptions_by_customer ON sandbox_payments.subscriptions (customer);
    CREATE INDEX subscriptions_due
      ON sandbox_payments.subscriptions ((CASE status WHEN 'past_due' THEN next_attempt_at ELSE period_end END))
      WHERE status IN ('active', 'trialing', 'past_due');
    CREATE INDEX subscriptions_unannounced ON sandbox_payments.subscriptions (id) WHERE NOT is_announced;

    CREATE TABLE sandbox_payments.sessions (
      id text PRIMARY KEY,
      customer text NOT NULL,
      description text NOT NULL,
      plan_id text,
      interval text CHECK ((interval IS NOT NULL) = (plan_id IS NOT NULL)),
      amount_micros bigint NOT NULL,
      currency text NOT NULL,
      success_url text NOT NULL,
      cancel_url text NOT NULL,
      expires_at timestamptz NOT NULL,
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'complete')),
      subscription_id text REFERENCES sandbox_payments.subscriptions (id),
      is_challenged boolean NOT NULL DEFAULT false,
      failure text CHECK (failure IN ('declined', 'not_confirmed')),
      is_announced boolean NOT NULL DEFAULT true
    );
    CREATE INDEX sessions_unannounced ON sandbox_payments.sessions (id) WHERE NOT is_announced;

    CREATE TABLE sandbox_payments.portal_sessions (
      id text PRIMARY KEY,
      customer text NOT NULL,
      return_url text NOT NULL,
      is_challenged boolean NOT NULL DEFAULT false,
      expires_at timestamptz NOT NULL
    );
  `);
};

/** Adds saved cards and their charges, in a later migration. A subscriber's card counts as saved. */
export const sandboxChargesMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE sandbox_payments.saved_cards (
      customer text PRIMARY KEY,
      card text NOT NULL CHECK (card IN ('succeeds', 'asks_to_confirm', 'declines_renewals', 'declines'))
    );
    CREATE TABLE sandbox_payments.charges (
      id text PRIMARY KEY,
      customer text NOT NULL,
      amount_micros bigint NOT NULL CHECK (amount_micros > 0),
      currency text NOT NULL,
      status text NOT NULL CHECK (status IN ('paid', 'declined', 'authentication_required'))
    );
    INSERT INTO sandbox_payments.saved_cards (customer, card)
      SELECT DISTINCT ON (customer) customer, card FROM sandbox_payments.subscriptions ORDER BY customer, id DESC;
  `);
};

/** Adds promotion codes of checkouts and the credit of changed plans, in a later migration. */
export const sandboxPromotionsMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE sandbox_payments.sessions
      ADD COLUMN promotion_code text,
      ADD COLUMN discount_micros bigint NOT NULL DEFAULT 0 CHECK (discount_micros BETWEEN 0 AND amount_micros);
    ALTER TABLE sandbox_payments.subscriptions
      ADD COLUMN credit_micros bigint NOT NULL DEFAULT 0 CHECK (credit_micros >= 0);
  `);
};

/** Adds invoices, in a later migration. */
export const sandboxInvoicesMigration = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE sandbox_payments.customers (
      customer text PRIMARY KEY,
      business_name text,
      vat_number text
    );
    CREATE TABLE sandbox_payments.invoice_counters (
      year int PRIMARY KEY,
      last int NOT NULL
    );
    CREATE TABLE sandbox_payments.invoices (
      id text PRIMARY KEY,
      number text NOT NULL UNIQUE,
      customer text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('subscription', 'top_up', 'automatic_top_up')),
      plan_name text,
      subscription_id text,
      charge_id text UNIQUE,
      period_start timestamptz,
      period_end timestamptz,
      total_micros bigint NOT NULL,
      tax_micros bigint NOT NULL CHECK (tax_micros BETWEEN 0 AND total_micros),
      tax_percent int NOT NULL,
      currency text NOT NULL,
      status text NOT NULL CHECK (status IN ('paid', 'void')),
      issued_at timestamptz NOT NULL,
      business_name text,
      vat_number text
    );
    CREATE INDEX invoices_by_customer ON sandbox_payments.invoices (customer, id);
    CREATE INDEX invoices_by_subscription ON sandbox_payments.invoices (subscription_id) WHERE subscription_id IS NOT NULL;
  `);
};

import { inboxMigration, outboxMigration } from '@svc/messaging';
import { secretChecksMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Facts that leave and arrive; plans, the subscriptions to them, checkouts, and the names that the payment provider has for all of them. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
  await inboxMigration(knex);
  await secretChecksMigration(knex);
  await knex.raw(PLANS);
  await knex.raw(SUBSCRIPTIONS);
  await knex.raw(CHECKOUTS);
  await knex.raw(STRIPE);
  await knex.raw(WORK);
};

const PLANS = `
-- As last configured. A plan that is no longer offered stays for its subscribers.
CREATE TABLE plans (
  id text PRIMARY KEY,
  name text NOT NULL,
  interval text NOT NULL CHECK (interval IN ('month', 'year')),
  includes_chat boolean NOT NULL,
  includes_audio_transcription boolean NOT NULL,
  weekly_limit_micros bigint NOT NULL CHECK (weekly_limit_micros >= 0),
  monthly_limit_micros bigint NOT NULL CHECK (monthly_limit_micros >= 0),
  is_offered boolean NOT NULL,
  updated_at timestamptz NOT NULL
);
`;

const SUBSCRIPTIONS = `
-- One row per account that has ever bought something. Each change of a subscription of the account locks it first.
CREATE TABLE customers (
  svc_user_id text PRIMARY KEY,
  -- Grows by one with each fact about the account's subscription, over all its subscriptions.
  revision int NOT NULL DEFAULT 0,
  current_subscription_id text,
  -- Epoch in which the current state was last published.
  announced_epoch uuid NOT NULL DEFAULT current_epoch(),
  created_at timestamptz NOT NULL
);

-- As Stripe last reported them. That of a seat is as Stripe last reported the organization's seats of the plan.
CREATE TABLE subscriptions (
  id text PRIMARY KEY,
  svc_user_id text NOT NULL REFERENCES customers (svc_user_id),
  -- NULL for a seat.
  provider_subscription_id text,
  -- The organization whose seat it is. NULL for a plan that the account pays.
  paid_by text,
  -- Taken before Stripe was asked. An answer with an earlier ticket than the one applied last is stale.
  provider_ticket bigint NOT NULL,
  status text NOT NULL CHECK (status IN (
    'incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'canceled', 'unpaid', 'paused')),
  plan_id text NOT NULL REFERENCES plans (id),
  anchor timestamptz NOT NULL,
  current_period_start timestamptz NOT NULL,
  current_period_end timestamptz NOT NULL,
  cancel_at_period_end boolean NOT NULL,
  past_due_since timestamptz,
  ended_at timestamptz,
  revision int NOT NULL CHECK (revision >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT subscriptions_of_provider UNIQUE (provider_subscription_id),
  CONSTRAINT subscriptions_payer CHECK ((provider_subscription_id IS NULL) = (paid_by IS NOT NULL)),
  CONSTRAINT subscriptions_period CHECK (current_period_end > current_period_start),
  CONSTRAINT subscriptions_past_due CHECK ((past_due_since IS NOT NULL) = (status = 'past_due')),
  CONSTRAINT subscriptions_ended
    CHECK ((ended_at IS NOT NULL) = (status IN ('canceled', 'unpaid', 'incomplete_expired')))
);
-- An account has one live subscription, regardless of races.
CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions (svc_user_id)
  WHERE status NOT IN ('canceled', 'unpaid', 'incomplete_expired');
CREATE INDEX subscriptions_by_account ON subscriptions (svc_user_id);
CREATE INDEX subscriptions_live_by_end ON subscriptions (current_period_end)
  WHERE status NOT IN ('canceled', 'unpaid', 'incomplete_expired');
CREATE SEQUENCE provider_tickets;

-- Disputes of subscription payments. A lost one makes its subscription unpaid.
CREATE TABLE subscription_disputes (
  provider_dispute_id text PRIMARY KEY,
  provider_subscription_id text NOT NULL,
  -- Null unless it is lost.
  lost_at timestamptz,
  provider_ticket bigint NOT NULL
);
CREATE INDEX subscription_disputes_lost ON subscription_disputes (provider_subscription_id, lost_at)
  WHERE lost_at IS NOT NULL;

-- Announced ends of accounts that the payment provider still has to carry out.
CREATE TABLE account_endings (
  svc_user_id text PRIMARY KEY,
  wanted text NOT NULL CHECK (wanted IN ('cancel', 'keep', 'erase')),
  -- Cancelled because of the deletion, so that keeping the account resumes it.
  cancelled_subscription_id text,
  is_applied boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL
);
CREATE INDEX account_endings_waiting ON account_endings (updated_at) WHERE NOT is_applied;
`;

const CHECKOUTS = `
CREATE TABLE checkout_sessions (
  id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('subscription', 'top_up', 'seats')),
  plan_id text REFERENCES plans (id),
  -- Number of seats.
  quantity int CHECK (quantity > 0),
  amount_micros bigint CHECK (amount_micros > 0),
  -- The price at the start of the checkout.
  asked_micros bigint NOT NULL CHECK (asked_micros >= 0),
  asked_currency text NOT NULL,
  -- Null until the provider has answered. A session that never got one was never shown.
  provider_session_id text,
  -- A charge of the saved payment method, without a hosted page.
  is_automatic boolean NOT NULL DEFAULT false,
  -- A person has confirmed it after the payment.
  is_confirmed boolean NOT NULL DEFAULT false,
  -- void: paid while another subscription was live, and so ended again at the provider.
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'complete', 'expired', 'void', 'mismatched')),
  subscription_id text REFERENCES subscriptions (id),
  -- As the provider reports a mismatched session. Null if it reports no amount.
  paid_micros bigint,
  paid_currency text,
  mismatched_subscription_id text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  completed_at timestamptz,
  -- Time at which an automatic charge got its invoice.
  invoiced_at timestamptz,
  CONSTRAINT checkout_sessions_of_provider UNIQUE (provider_session_id),
  CONSTRAINT checkout_sessions_plan CHECK ((plan_id IS NOT NULL) = (kind IN ('subscription', 'seats'))),
  CONSTRAINT checkout_sessions_quantity CHECK ((quantity IS NOT NULL) = (kind = 'seats')),
  CONSTRAINT checkout_sessions_amount CHECK ((amount_micros IS NOT NULL) = (kind = 'top_up')),
  CONSTRAINT checkout_sessions_completed CHECK ((completed_at IS NOT NULL) = (status IN ('complete', 'void', 'mismatched')))
);
CREATE INDEX checkout_sessions_mismatched ON checkout_sessions (completed_at) WHERE status = 'mismatched';
CREATE UNIQUE INDEX checkout_sessions_one_automatic ON checkout_sessions (svc_user_id)
  WHERE is_automatic AND status = 'open';
CREATE INDEX checkout_sessions_by_account ON checkout_sessions (svc_user_id);
CREATE INDEX checkout_sessions_open_by_account ON checkout_sessions (svc_user_id) WHERE status = 'open';
CREATE INDEX checkout_sessions_open_by_expiry ON checkout_sessions (expires_at) WHERE status = 'open';
CREATE INDEX checkout_sessions_automatic ON checkout_sessions (svc_user_id, created_at) WHERE is_automatic;
CREATE INDEX checkout_sessions_without_invoice ON checkout_sessions (completed_at)
  WHERE is_automatic AND status = 'complete' AND invoiced_at IS NULL;
`;

const STRIPE = `
CREATE TABLE stripe_customers (
  svc_user_id text PRIMARY KEY,
  customer_id text NOT NULL CONSTRAINT stripe_customers_once UNIQUE
);

-- Prices and products at Stripe with their plans. A price stays when its plan gets another one, because earlier buyers keep it.
CREATE TABLE stripe_catalog (
  stripe_id text PRIMARY KEY,
  -- Null for a product of several plans, which identifies none.
  plan_id text REFERENCES plans (id)
);
`;

const WORK = `
-- Items of periodic work on payments that failed and are tried again.
CREATE TABLE deferred_items (
  work text NOT NULL,
  item text NOT NULL,
  -- Failures in a row.
  attempts int NOT NULL CHECK (attempts > 0),
  reason text NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (work, item)
);
CREATE INDEX deferred_items_due ON deferred_items (work, due_at);

-- Restores whose after-restore has ended. Until then nothing is charged automatically.
CREATE TABLE finished_restores (
  epoch uuid PRIMARY KEY REFERENCES epochs (epoch),
  finished_at timestamptz NOT NULL
);
`;

import { auditLogMigration } from '@svc/database';
import type { Knex } from 'knex';

/** Organizations: seats of their members, limits and use of each member, and the acts of members. */
export const up = async (knex: Knex): Promise<void> => {
  await auditLogMigration(knex);
  await knex.raw(SEATS);
  await knex.raw(MEMBERS);
};

const SEATS = `
-- Seats of a plan that an organization pays, as Stripe last reported them: a subscription with a quantity. Changes only under
-- the advisory lock of the organization's seats.
CREATE TABLE seat_orders (
  id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  provider_subscription_id text NOT NULL,
  -- Taken before Stripe was asked. An answer with an earlier ticket than the one applied last is stale.
  provider_ticket bigint NOT NULL,
  status text NOT NULL CHECK (status IN (
    'incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'canceled', 'unpaid', 'paused')),
  plan_id text NOT NULL REFERENCES plans (id),
  quantity int NOT NULL CHECK (quantity >= 0),
  -- As the organization has last asked for. Stripe has it once all changes are applied.
  wanted_quantity int NOT NULL CHECK (wanted_quantity >= 0),
  changes int NOT NULL DEFAULT 0,
  applied_changes int NOT NULL DEFAULT 0,
  -- Cancelled because the organization is to be deleted, so that keeping it resumes the order.
  is_cancelled_by_deletion boolean NOT NULL DEFAULT false,
  -- False while seats that members have do not follow its latest state yet.
  is_followed boolean NOT NULL DEFAULT true,
  anchor timestamptz NOT NULL,
  current_period_start timestamptz NOT NULL,
  current_period_end timestamptz NOT NULL,
  cancel_at_period_end boolean NOT NULL,
  past_due_since timestamptz,
  ended_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT seat_orders_of_provider UNIQUE (provider_subscription_id),
  CONSTRAINT seat_orders_changes CHECK (applied_changes BETWEEN 0 AND changes),
  CONSTRAINT seat_orders_ended CHECK ((ended_at IS NOT NULL) = (status IN ('canceled', 'unpaid', 'incomplete_expired')))
);
-- An organization pays the seats of a plan once, regardless of races.
CREATE UNIQUE INDEX seat_orders_one_live ON seat_orders (svc_user_id, plan_id) WHERE ended_at IS NULL;
CREATE INDEX seat_orders_by_organization ON seat_orders (svc_user_id);
CREATE INDEX seat_orders_live_by_end ON seat_orders (current_period_end) WHERE ended_at IS NULL;
CREATE INDEX seat_orders_waiting ON seat_orders (updated_at) WHERE applied_changes < changes;
CREATE INDEX seat_orders_unfollowed ON seat_orders (updated_at) WHERE NOT is_followed;

-- Each seat that a member has, or had: a subscription of the member that the organization pays.
CREATE TABLE seats (
  subscription_id text PRIMARY KEY REFERENCES subscriptions (id),
  order_id text NOT NULL REFERENCES seat_orders (id),
  organization_id text NOT NULL,
  svc_user_id text NOT NULL,
  membership_id text NOT NULL,
  assigned_at timestamptz NOT NULL,
  -- Ticket of the order's state that it follows.
  order_ticket bigint NOT NULL,
  ended_at timestamptz
);
CREATE INDEX seats_by_order ON seats (order_id, assigned_at) WHERE ended_at IS NULL;
CREATE INDEX seats_by_organization ON seats (organization_id);
CREATE UNIQUE INDEX seats_one_of_member ON seats (organization_id, svc_user_id) WHERE ended_at IS NULL;

-- Memberships that have ended, so that no assignment under way gives their members a seat.
CREATE TABLE ended_memberships (
  membership_id text PRIMARY KEY,
  organization_id text NOT NULL,
  ended_at timestamptz NOT NULL
);

-- Use of the seats of an organization by UTC day of the admission.
CREATE TABLE seat_usage_days (
  organization_id text NOT NULL,
  day date NOT NULL,
  svc_user_id text NOT NULL,
  cost_micros bigint NOT NULL,
  PRIMARY KEY (organization_id, day, svc_user_id)
) WITH (fillfactor = 70);
`;

const MEMBERS = `
-- What all API keys of a member together may spend in a calendar month (UTC). Changes only under the lock of the wallet.
CREATE TABLE member_limits (
  svc_user_id text NOT NULL,
  member_id text NOT NULL,
  monthly_limit_micros bigint NOT NULL CHECK (monthly_limit_micros >= 0),
  PRIMARY KEY (svc_user_id, member_id)
);

-- API-key requests of an account by UTC day of the payment and creator of the key, who may be the account itself.
CREATE TABLE member_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  member_id text NOT NULL,
  requests int NOT NULL CHECK (requests >= 0),
  -- Paid by the wallet.
  paid_micros bigint NOT NULL,
  PRIMARY KEY (svc_user_id, day, member_id)
) WITH (fillfactor = 70);
`;

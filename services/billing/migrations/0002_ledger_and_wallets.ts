import type { Knex } from 'knex';

/** The ledger, and the prepaid wallets whose rows are running totals of it. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(LEDGER);
  await knex.raw(WALLETS);
  await knex.raw(RETURNED_PAYMENTS);
};

const LEDGER = `
CREATE TYPE posting_kind AS ENUM ('top_up', 'settlement', 'adjustment', 'refund');

-- A posting changes two books of an account or more by amounts that sum to zero, and is only ever added. A positive amount is an
-- increase of that book. Reference and kind are its idempotency key. Uses of a wallet that are settled together have one posting
-- without a reference: the rows of their requests name it.
CREATE TABLE ledger_postings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  posted_at timestamptz NOT NULL,
  -- NULL if the posting does not change the book.
  wallet_available_micros bigint,
  payments_received_micros bigint,
  income_micros bigint,
  write_offs_micros bigint,
  kind posting_kind NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  svc_user_id text NOT NULL,
  reference text CHECK (reference IS NOT NULL OR kind = 'settlement'),
  CONSTRAINT ledger_postings_balanced CHECK (coalesce(wallet_available_micros, 0) + coalesce(payments_received_micros, 0)
    + coalesce(income_micros, 0) + coalesce(write_offs_micros, 0) = 0),
  CONSTRAINT ledger_postings_change_books CHECK (coalesce(wallet_available_micros, payments_received_micros, income_micros,
    write_offs_micros) IS NOT NULL AND 0 NOT IN (coalesce(wallet_available_micros, 1), coalesce(payments_received_micros, 1),
    coalesce(income_micros, 1), coalesce(write_offs_micros, 1)))
);
CREATE UNIQUE INDEX ledger_postings_once ON ledger_postings (reference, kind) WHERE reference IS NOT NULL;
-- Lists of one account are short, and sorted once read. Without the id, entries of an account share one copy of its key.
CREATE INDEX ledger_postings_by_account ON ledger_postings (svc_user_id);
-- Finds all postings of a wallet but those of its use, without reading these.
CREATE INDEX ledger_postings_of_funds ON ledger_postings (svc_user_id, id) WHERE kind IN ('top_up', 'refund', 'adjustment');

-- The changes of books, one by one.
CREATE VIEW ledger_entries AS
  SELECT p.id AS posting_id, e.book, e.amount_micros
  FROM ledger_postings AS p CROSS JOIN LATERAL (VALUES ('wallet_available', p.wallet_available_micros),
    ('payments_received', p.payments_received_micros), ('income', p.income_micros), ('write_offs', p.write_offs_micros))
    AS e (book, amount_micros)
  WHERE e.amount_micros IS NOT NULL;

CREATE TRIGGER ledger_postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
`;

const WALLETS = `
CREATE TABLE wallets (
  svc_user_id text PRIMARY KEY,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  balance_micros bigint NOT NULL DEFAULT 0,
  -- Part of the balance that leases, uncertain requests and extra use hold.
  held_micros bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
  revision int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  -- Leases get nothing ahead of need until then: a request waits for what they give back.
  recalling_until timestamptz
) WITH (fillfactor = 50);

-- Paid for requests from a wallet on a UTC day, and the time of the last posting.
CREATE TABLE wallet_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  paid_micros bigint NOT NULL,
  -- Part of it that paid for use beyond a plan's caps.
  extra_micros bigint NOT NULL DEFAULT 0,
  last_posted_at timestamptz NOT NULL,
  PRIMARY KEY (svc_user_id, day)
) WITH (fillfactor = 70);

-- Each charge is a checkout session without a hosted page.
CREATE TABLE auto_top_ups (
  svc_user_id text PRIMARY KEY,
  is_enabled boolean NOT NULL,
  below_micros bigint NOT NULL CHECK (below_micros >= 0),
  amount_micros bigint NOT NULL CHECK (amount_micros > 0),
  monthly_max_micros bigint NOT NULL CHECK (monthly_max_micros >= 0)
);
CREATE INDEX auto_top_ups_enabled ON auto_top_ups (svc_user_id) WHERE is_enabled;
`;

const RETURNED_PAYMENTS = `
-- Refunds of top-ups: taken from the wallet first, then paid back by the payment provider, or put back if it refuses.
CREATE TABLE wallet_refunds (
  id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  session_id text NOT NULL REFERENCES checkout_sessions (id),
  amount_micros bigint NOT NULL CHECK (amount_micros > 0),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'refunded', 'refused')),
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT wallet_refunds_ended CHECK ((ended_at IS NOT NULL) = (state <> 'pending'))
);
CREATE INDEX wallet_refunds_by_account ON wallet_refunds (svc_user_id);
CREATE INDEX wallet_refunds_by_session ON wallet_refunds (session_id);
CREATE INDEX wallet_refunds_pending ON wallet_refunds (created_at) WHERE state = 'pending';

-- Refunds and disputes of top-ups that were made at Stripe.
CREATE TABLE payment_reversals (
  provider_reversal_id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  session_id text NOT NULL REFERENCES checkout_sessions (id),
  kind text NOT NULL CHECK (kind IN ('refund', 'dispute')),
  -- Taken from the wallet now; 0 once a refund has failed or a dispute is won.
  amount_micros bigint NOT NULL CHECK (amount_micros >= 0),
  -- Part of the ledger reference, so that each change has one posting.
  changes int NOT NULL DEFAULT 1,
  -- Taken before the provider was asked. Older answers have no effect.
  provider_ticket bigint NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX payment_reversals_by_account ON payment_reversals (svc_user_id);
CREATE INDEX payment_reversals_by_session ON payment_reversals (session_id);
`;

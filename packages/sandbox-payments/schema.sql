-- Generated from the migrated database: do not edit. One file per service, so that a review sees the schema.

CREATE OR REPLACE FUNCTION sandbox_payments.clock()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ SELECT clock_timestamp() $function$
;

CREATE TABLE charges (
  id text NOT NULL,
  customer text NOT NULL,
  amount_micros bigint NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  CONSTRAINT charges_pkey PRIMARY KEY (id),
  CONSTRAINT charges_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT charges_status_check CHECK ((status = ANY (ARRAY['paid'::text, 'declined'::text, 'authentication_required'::text])))
);

CREATE TABLE customers (
  customer text NOT NULL,
  business_name text,
  vat_number text,
  CONSTRAINT customers_pkey PRIMARY KEY (customer)
);

CREATE TABLE invoice_counters (
  year integer NOT NULL,
  last integer NOT NULL,
  CONSTRAINT invoice_counters_pkey PRIMARY KEY (year)
);

CREATE TABLE invoices (
  id text NOT NULL,
  number text NOT NULL,
  customer text NOT NULL,
  kind text NOT NULL,
  plan_name text,
  subscription_id text,
  charge_id text,
  period_start timestamp with time zone,
  period_end timestamp with time zone,
  total_micros bigint NOT NULL,
  tax_micros bigint NOT NULL,
  tax_percent integer NOT NULL,
  currency text NOT NULL,
  status text NOT NULL,
  issued_at timestamp with time zone NOT NULL,
  business_name text,
  vat_number text,
  CONSTRAINT invoices_pkey PRIMARY KEY (id),
  CONSTRAINT invoices_charge_id_key UNIQUE (charge_id),
  CONSTRAINT invoices_number_key UNIQUE (number),
  CONSTRAINT invoices_check CHECK (((tax_micros >= 0) AND (tax_micros <= total_micros))),
  CONSTRAINT invoices_kind_check CHECK ((kind = ANY (ARRAY['subscription'::text, 'top_up'::text, 'automatic_top_up'::text]))),
  CONSTRAINT invoices_status_check CHECK ((status = ANY (ARRAY['paid'::text, 'void'::text])))
);
CREATE INDEX invoices_by_customer ON invoices USING btree (customer, id);
CREATE INDEX invoices_by_subscription ON invoices USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);

CREATE TABLE portal_sessions (
  id text NOT NULL,
  customer text NOT NULL,
  return_url text NOT NULL,
  is_challenged boolean DEFAULT false NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT portal_sessions_pkey PRIMARY KEY (id)
);

CREATE TABLE saved_cards (
  customer text NOT NULL,
  card text NOT NULL,
  CONSTRAINT saved_cards_pkey PRIMARY KEY (customer),
  CONSTRAINT saved_cards_card_check CHECK ((card = ANY (ARRAY['succeeds'::text, 'asks_to_confirm'::text, 'declines_renewals'::text, 'declines'::text])))
);

CREATE TABLE sessions (
  id text NOT NULL,
  customer text NOT NULL,
  description text NOT NULL,
  plan_id text,
  "interval" text,
  amount_micros bigint NOT NULL,
  currency text NOT NULL,
  success_url text NOT NULL,
  cancel_url text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  status text DEFAULT 'open'::text NOT NULL,
  subscription_id text,
  is_challenged boolean DEFAULT false NOT NULL,
  failure text,
  is_announced boolean DEFAULT true NOT NULL,
  promotion_code text,
  discount_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id),
  CONSTRAINT sessions_check CHECK ((("interval" IS NOT NULL) = (plan_id IS NOT NULL))),
  CONSTRAINT sessions_check1 CHECK (((discount_micros >= 0) AND (discount_micros <= amount_micros))),
  CONSTRAINT sessions_failure_check CHECK ((failure = ANY (ARRAY['declined'::text, 'not_confirmed'::text]))),
  CONSTRAINT sessions_status_check CHECK ((status = ANY (ARRAY['open'::text, 'complete'::text])))
);
CREATE INDEX sessions_unannounced ON sessions USING btree (id) WHERE (NOT is_announced);

CREATE TABLE subscriptions (
  id text NOT NULL,
  customer text NOT NULL,
  plan_id text NOT NULL,
  "interval" text NOT NULL,
  status text NOT NULL,
  anchor timestamp with time zone NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  cancel_at_period_end boolean DEFAULT false NOT NULL,
  ended_at timestamp with time zone,
  was_reverted boolean DEFAULT false NOT NULL,
  card text DEFAULT 'succeeds'::text NOT NULL,
  when_unpaid text DEFAULT 'canceled'::text NOT NULL,
  clock_ahead_seconds bigint DEFAULT 0 NOT NULL,
  failed_attempts integer DEFAULT 0 NOT NULL,
  next_attempt_at timestamp with time zone,
  is_announced boolean DEFAULT false NOT NULL,
  credit_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_card_check CHECK ((card = ANY (ARRAY['succeeds'::text, 'asks_to_confirm'::text, 'declines_renewals'::text, 'declines'::text]))),
  CONSTRAINT subscriptions_clock_ahead_seconds_check CHECK ((clock_ahead_seconds >= 0)),
  CONSTRAINT subscriptions_credit_micros_check CHECK ((credit_micros >= 0)),
  CONSTRAINT subscriptions_failed_attempts_check CHECK ((failed_attempts >= 0)),
  CONSTRAINT subscriptions_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text]))),
  CONSTRAINT subscriptions_when_unpaid_check CHECK ((when_unpaid = ANY (ARRAY['canceled'::text, 'unpaid'::text])))
);
CREATE INDEX subscriptions_by_customer ON subscriptions USING btree (customer);
CREATE INDEX subscriptions_due ON subscriptions USING btree ((
CASE status
    WHEN 'past_due'::text THEN next_attempt_at
    ELSE period_end
END)) WHERE (status = ANY (ARRAY['active'::text, 'trialing'::text, 'past_due'::text]));
CREATE INDEX subscriptions_unannounced ON subscriptions USING btree (id) WHERE (NOT is_announced);

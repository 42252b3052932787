import { compactIdsMigration } from '@svc/database';
import { formerSigningKeysMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/**
 * The rows that admission decides on and settlement ends. They carry every number that is checked, as counting reservations
 * inside the statement that locks would read a stale snapshot.
 */
export const up = async (knex: Knex): Promise<void> => {
  await compactIdsMigration(knex);
  await knex.raw(KEYS);
  await knex.raw(LEASES);
  await knex.raw(RESERVATIONS);
  await knex.raw(KEY_REQUESTS);
  await knex.raw(USAGE);
  await knex.raw(CHANGES);
  await formerSigningKeysMigration(knex);
};

const KEYS = `
CREATE TABLE key_budgets (
  key_id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  -- The minute begins with its first request, so that no boundary of the clock lets twice as many through.
  minute_start timestamptz NOT NULL,
  minute_count int NOT NULL DEFAULT 0 CHECK (minute_count >= 0),
  minute_tokens bigint NOT NULL DEFAULT 0 CHECK (minute_tokens >= 0),
  -- Calendar months in UTC.
  month_start timestamptz NOT NULL,
  month_used_micros bigint NOT NULL DEFAULT 0 CHECK (month_used_micros >= 0),
  -- As the last ask for a lease stated it.
  month_limit_micros bigint,
  -- The member of the organization who created the key. NULL for the account itself.
  member_id text
) WITH (fillfactor = 50);
CREATE INDEX key_budgets_by_member ON key_budgets (svc_user_id, member_id) WHERE member_id IS NOT NULL;
`;

const LEASES = `
-- The part of a wallet that one gateway process may spend for one API key. Amounts are sums since the lease began. A lease
-- holds what was granted, less what its holder has returned and what its requests have cost. Changes only under the lock of
-- its wallet.
CREATE TABLE leases (
  lease_id uuid PRIMARY KEY,
  -- The gateway process that spends it.
  holder_id uuid NOT NULL,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  -- Calendar month (UTC) in which all its requests count.
  month_start timestamptz NOT NULL,
  granted_micros bigint NOT NULL DEFAULT 0,
  returned_micros bigint NOT NULL DEFAULT 0,
  settled_micros bigint NOT NULL DEFAULT 0,
  -- Cost of its requests so far, ended ones included, as its holder has reported.
  known_micros bigint NOT NULL DEFAULT 0,
  -- Requests and tokens of the key's minute that begins here.
  minute_start timestamptz NOT NULL,
  granted_requests bigint NOT NULL DEFAULT 0,
  returned_requests bigint NOT NULL DEFAULT 0,
  granted_tokens bigint NOT NULL DEFAULT 0,
  returned_tokens bigint NOT NULL DEFAULT 0,
  reported_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- True if it is kept after its end, because outcomes of its requests may be missing, or an ask of its holder may be late.
  is_remembered boolean NOT NULL DEFAULT false,
  -- Charged for missing outcomes, less those that arrived later. NULL until outcomes have been missing for too long.
  estimated_micros bigint CHECK (estimated_micros >= 0),
  CONSTRAINT leases_sound CHECK (lease_is_sound(granted_micros, returned_micros, settled_micros, granted_requests,
    returned_requests, granted_tokens, returned_tokens))
) WITH (fillfactor = 50);
CREATE INDEX leases_by_account ON leases (svc_user_id);

-- Idempotency keys of API-key requests, each remembered for 48 hours.
CREATE TABLE key_idempotency (
  key_id text NOT NULL,
  idempotency_key_hash bytea NOT NULL,
  request_id text NOT NULL,
  lease_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, idempotency_key_hash)
);
CREATE INDEX key_idempotency_by_age ON key_idempotency (created_at);
`;

const RESERVATIONS = `
-- Delegated requests, and tombstones of requests that were given up. Open ones are few and stay in a small table. Once ended,
-- they move to the month of their id: request ids begin with their time. Each partition has its own primary key, so an id is
-- checked for under its lock (lock_request) before it is inserted.
CREATE TABLE reservations (
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  service text,
  idempotency_key_hash bytea,
  -- The gateway process that asked, until the request ends.
  holder_id text,
  state text NOT NULL DEFAULT 'reserved',
  estimate_micros bigint NOT NULL,
  -- Its highest cost while it is open, then the part of its cost that counts for the app's budget.
  budget_micros bigint,
  cost_micros bigint,
  settled_by text,
  week_start timestamptz,
  month_start timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  uncertain_at timestamptz,
  ended_at timestamptz,
  adjusted_at timestamptz,
  -- If the wallet pays: the calendar month (UTC) of the ceiling that it counts for. The wallet holds and pays budget_micros.
  extra_month timestamptz,
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, service, week_start, state, estimate_micros,
    cost_micros, settled_by, ended_at))
) PARTITION BY LIST (state);
CREATE TABLE open_reservations PARTITION OF reservations (PRIMARY KEY (request_id)) FOR VALUES IN ('reserved', 'uncertain')
  WITH (fillfactor = 80);
CREATE INDEX reservations_by_holder ON open_reservations (holder_id, created_at) WHERE state = 'reserved';
CREATE INDEX reservations_uncertain ON open_reservations (uncertain_at) WHERE state = 'uncertain';
CREATE TABLE ended_reservations PARTITION OF reservations (PRIMARY KEY (request_id)) FOR VALUES IN ('settled', 'released')
  PARTITION BY RANGE (request_id);
-- Requests whose gateway has a clock that no month of the other partitions contains.
CREATE TABLE ended_reservations_other PARTITION OF ended_reservations DEFAULT;
-- Requests of an account share one copy of its id, and are sorted once read.
CREATE INDEX reservations_by_account ON reservations (svc_user_id);
-- Recognises requests that are sent twice. The lock of the account keeps two of them from being admitted at once.
CREATE INDEX reservations_idempotency_key ON reservations (svc_user_id, client_id, idempotency_key_hash)
  WHERE idempotency_key_hash IS NOT NULL;

-- Gateway processes that hold reservations and leases of API keys.
CREATE TABLE holders (
  holder_id text PRIMARY KEY,
  -- Its internal listener, which takes recalls.
  internal_url text NOT NULL,
  expires_at timestamptz NOT NULL
);
`;

const KEY_REQUESTS = `
-- API keys whose requests have ended, by a short number for their rows.
CREATE TABLE request_keys (
  key_number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  CONSTRAINT request_keys_once UNIQUE (svc_user_id, key_id)
);

-- Ended API-key requests, each written once, when it is settled. Ids begin with their time, so that ranges of ids are ranges of
-- time. Every byte here is kept for each request: columns are ordered by alignment, none repeats what the gateway records, and
-- nulls are free up to eight columns.
CREATE TABLE ended_key_requests (
  -- Bits of the request id, see uuid_of_id.
  id uuid NOT NULL PRIMARY KEY,
  cost_micros bigint NOT NULL CHECK (cost_micros >= 0),
  -- Part of the cost that neither the wallet nor the key's limit covered. Null for none.
  written_off_micros bigint CHECK (written_off_micros BETWEEN 1 AND cost_micros),
  -- The posting that booked it, with others of its wallet. Null if it cost nothing.
  posting_id bigint,
  -- Time of the latest settlement.
  ended_at timestamptz NOT NULL,
  key_number int NOT NULL,
  -- Calendar month (UTC) in which it counts for its key, in months since the year 0. Null if an operator charged it although it
  -- was never admitted, or if it was released without a lease.
  month smallint,
  -- Settled by usage or by estimate, or released.
  ending "char" NOT NULL CHECK (ending IN ('u', 'e', 'r'))
) PARTITION BY RANGE (id);
-- Requests of a key share one copy of its number, and are sorted once read.
CREATE INDEX ended_key_requests_by_key ON ended_key_requests (key_number);
-- Requests whose gateway has a clock that no month of the other partitions contains.
CREATE TABLE ended_key_requests_other PARTITION OF ended_key_requests DEFAULT;

-- Ended API-key requests in the words of the other tables. Search by id or key_number: the others are computed.
CREATE VIEW key_requests AS
  SELECT r.id, id_of_uuid('req', r.id) AS request_id, k.svc_user_id, k.key_id, r.key_number,
    CASE r.ending WHEN 'r' THEN 'released' ELSE 'settled' END AS state,
    CASE r.ending WHEN 'u' THEN 'usage' WHEN 'e' THEN 'estimate' END AS settled_by,
    r.cost_micros, coalesce(r.written_off_micros, 0) AS written_off_micros, r.posting_id,
    make_timestamptz(r.month / 12, r.month % 12 + 1, 1, 0, 0, 0, 'UTC') AS month_start, time_of_uuid(r.id) AS created_at, r.ended_at
  FROM ended_key_requests AS r JOIN request_keys AS k USING (key_number);

-- API-key requests whose outcome is unknown. Each holds its estimate.
CREATE TABLE uncertain_key_requests (
  request_id text PRIMARY KEY,
  svc_user_id text NOT NULL,
  key_id text NOT NULL,
  lease_id uuid,
  held_micros bigint NOT NULL CHECK (held_micros >= 0),
  month_start timestamptz NOT NULL,
  uncertain_at timestamptz NOT NULL,
  -- Its outcome as its gateway has reported it.
  fact jsonb NOT NULL
);
CREATE INDEX uncertain_key_requests_by_account ON uncertain_key_requests (svc_user_id);
CREATE INDEX uncertain_key_requests_by_age ON uncertain_key_requests (uncertain_at);
`;

const USAGE = `
-- Part of a delegated request's receipt beside the cost: its counts.
CREATE TABLE request_details (
  -- Bits of the request id, see uuid_of_id.
  id uuid NOT NULL PRIMARY KEY,
  input_tokens int,
  output_tokens int,
  cached_input_tokens int,
  audio_ms int
) PARTITION BY RANGE (id);
CREATE TABLE request_details_other PARTITION OF request_details DEFAULT;

-- Usage reported for a request that was never admitted, for an operator to charge or discard.
CREATE TABLE unadmitted_usage (
  request_id text NOT NULL,
  event_id uuid NOT NULL,
  fact jsonb NOT NULL,
  svc_user_id text GENERATED ALWAYS AS (fact ->> 'svc_user_id') STORED,
  received_at timestamptz NOT NULL,
  resolved_at timestamptz,
  resolution text CHECK (resolution IN ('charged', 'discarded')),
  PRIMARY KEY (request_id, event_id),
  CHECK ((resolved_at IS NULL) = (resolution IS NULL))
);
CREATE INDEX unadmitted_usage_waiting ON unadmitted_usage (request_id) WHERE resolved_at IS NULL;
CREATE INDEX unadmitted_usage_by_account ON unadmitted_usage (svc_user_id);

-- Use of an account by UTC day of the admission, app and service.
CREATE TABLE usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  client_id text NOT NULL,
  service text NOT NULL,
  -- Settled requests and their cost. An uncertain one is counted once it is settled.
  requests int NOT NULL CHECK (requests >= 0),
  cost_micros bigint NOT NULL CHECK (cost_micros >= 0),
  -- The part of a day's cost that belongs to a window that began on that day.
  week_first_micros bigint NOT NULL DEFAULT 0,
  month_first_micros bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (svc_user_id, day, client_id, service)
) WITH (fillfactor = 70);
-- Has the whole key, so that a settlement finds its row in one step by this index too.
CREATE INDEX usage_days_by_app ON usage_days (client_id, day, svc_user_id, service);
`;

const CHANGES = `
-- A change by an outcome of a delegated request, with what its sums are kept by.
CREATE TYPE plan_use_change AS (
  request_id text, svc_user_id text, client_id text, service text, created_at timestamptz,
  -- Those of its admission.
  week_start timestamptz, month_start timestamptz,
  -- True if the wallet pays, beyond the caps.
  is_extra boolean,
  -- 1 if it leaves one of the account's places.
  ended int,
  -- Enters the windows.
  counted bigint,
  -- True if the request is settled by this change, or was before.
  is_settled boolean,
  -- False for a change of a cost that is counted already.
  is_first boolean,
  cost bigint);
`;

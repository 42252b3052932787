import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** In the order of their use. */
const FUNCTIONS = [
  'with_current_windows',
  'roll_account_windows',
  'refuse_delegated',
  'admit_delegated_requests',
  'key_held_micros',
  'with_current_key_windows',
  'write_key_admissions',
  'admit_key_requests',
  'write_reservations',
  'extra_key_micros',
  'write_key_use',
  'settle_key_requests',
  'write_delegated_use',
  'settle_delegated_requests',
  'settle_requests',
  'previous_release',
];

/**
 * One function for each decision: admission of delegated requests, admission of API-key requests, settlement. A settlement
 * never takes a wallet below zero, and a key's monthly limit counts what its requests hold.
 *
 * The next release drops the functions of `previous_release.sql`, and with them `admit_for_key`, `give_up_requests` and
 * `settle_turn`, which calls that are under way during this migration may still reach.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE reservations
      -- The gateway process that asked; null for requests that the previous release admitted.
      ADD COLUMN holder_id text,
      -- What an API-key request has cost so far as its holder reported; null where only the hold is known.
      ADD COLUMN reported_micros bigint,
      -- The part of the cost that neither the wallet nor the key's limit covered.
      ADD COLUMN written_off_micros bigint NOT NULL DEFAULT 0,
      ADD CONSTRAINT reservations_written_off CHECK (written_off_micros BETWEEN 0 AND coalesce(cost_micros, 0)) NOT VALID;
    CREATE INDEX reservations_reserved_by_key ON reservations (key_id, month_start)
      WHERE state = 'reserved' AND key_id IS NOT NULL;
    -- As the last admission stated it.
    ALTER TABLE key_budgets ADD COLUMN month_limit_micros bigint;
    ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_book_check,
      ADD CONSTRAINT ledger_entries_book_check CHECK (book IN (
        'usage', 'allowance', 'wallet_available', 'wallet_held', 'payments_received', 'income', 'write_offs')) NOT VALID;

    -- The hold of one admitted API-key request.
    CREATE TYPE wallet_hold AS (svc_user_id text, hold bigint);
    -- Changes by the outcome of one API-key request.
    CREATE TYPE key_use_change AS (
      svc_user_id text, key_id text,
      -- Those of its admission.
      month_start timestamptz, minute_start timestamptz,
      -- Leaves the sum of the key's reserved requests.
      unreserved bigint,
      -- Leaves the wallet's holds, and its balance.
      freed bigint, paid bigint,
      -- Enters the key's month, and its minute.
      counted bigint, tokens bigint,
      posting_kind text, request_id text, income bigint, written_off bigint);
    -- Changes by the outcome of one delegated request.
    CREATE TYPE plan_use_change AS (
      svc_user_id text,
      -- Those of its admission.
      week_start timestamptz, month_start timestamptz,
      -- 1 if it leaves one of the account's places.
      ended int,
      -- Enters the windows.
      counted bigint,
      posting_kind text, request_id text, cost bigint);
  `);
  // As they are today, functions name tables of later migrations, which create them again.
  await knex.raw('SET LOCAL check_function_bodies = off');
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};

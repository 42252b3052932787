import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** In the order of their use. */
const FUNCTIONS = [
  'with_current_windows',
  'roll_account_windows',
  'with_current_budget_window',
  'app_budget_verdict',
  'app_window_use',
  'set_app_budget',
  'list_app_standings',
  'entitle_account',
  'refuse_delegated',
  'admit_delegated_requests',
  'key_held_micros',
  'with_current_key_windows',
  'recall_key_request',
  'write_key_admissions',
  'admit_key_requests',
  'shrink_holds',
  'book_app_budget',
  'write_reservations',
  'extra_key_micros',
  'lock_wallets',
  'write_key_use',
  'write_wallet_usage_days',
  'settle_key_requests',
  'write_delegated_use',
  'write_usage_days',
  'settle_delegated_requests',
  'settle_requests',
  'previous_release',
];

/**
 * One function for each decision: admission of delegated requests with their app's budget, admission of API-key requests with
 * their minutes and their month, settlement. A settlement never takes a wallet below zero, and a key's monthly limit counts
 * what its requests hold.
 *
 * The columns and tables of the functions come with the migrations before, and all functions change in one transaction: the
 * previous release works between any two migrations.
 *
 * The next release drops the functions of `previous_release.sql`, and with them `admit_for_key`, `give_up_requests` and
 * `settle_turn`, which calls that are under way during this migration may still reach.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
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
  await knex.raw(readFileSync(new URL('./tables/wallet_usage_days.sql', import.meta.url), 'utf8'));
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
  await knex.raw('DROP TRIGGER reservations_usage_days ON reservations');
};

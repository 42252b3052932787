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
  'admit_key_requests',
  'shrink_holds',
  'book_app_budget',
  'book_delegated_use',
  'book_key_use',
  'settle_request',
  'settle_requests',
  'usage_days_follow',
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
 * The next release drops the functions of `previous_release.sql`, and with them `admit_for_key`, `give_up_requests`,
 * `settle_turn` and `ledger_post_many`, which calls that are under way during this migration may still reach.
 */
export const up = async (knex: Knex): Promise<void> => {
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};

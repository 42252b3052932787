import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

const FUNCTIONS = ['entitle_account', 'usage_days_follow'];

/**
 * Keeps the use of two windows apart that begin on the same UTC day, as those of a subscription that ends and of the next one. The
 * budget of an app, set anew on that day, counted both.
 */
export const up = async (knex: Knex): Promise<void> => {
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};

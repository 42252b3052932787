import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/**
 * Keeps the use of two windows apart that begin on the same UTC day, as those of a subscription that ends and of the next one. The
 * budget of an app, set anew on that day, counted both.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(readFileSync(new URL('./functions/entitle_account.sql', import.meta.url), 'utf8'));
};

import type { Knex } from 'knex';

/** Finds the postings of one account, for the list of its wallet's transactions. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw('CREATE INDEX ledger_postings_by_account ON ledger_postings (svc_user_id, id)');
};

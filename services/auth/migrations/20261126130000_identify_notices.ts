import type { Knex } from 'knex';

/** Identifies the mails that another service asks for, so that a repeated request mails nothing. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw('ALTER TABLE mails ADD COLUMN notice_id text CONSTRAINT mails_notice_id_unique UNIQUE');
};

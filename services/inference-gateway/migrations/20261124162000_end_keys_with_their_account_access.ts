import { inboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Lets all keys of an account end at once, with the sessions that created them. */
export const up = async (knex: Knex): Promise<void> => {
  await inboxMigration(knex);
  await knex.raw(`
    ALTER TABLE api_keys ADD COLUMN session_id text COLLATE "C";
    COMMENT ON COLUMN api_keys.session_id IS 'Console session that created the key; null for keys older than this column.';

    CREATE TABLE key_cutoffs (
      svc_user_id text CONSTRAINT key_cutoffs_pkey PRIMARY KEY,
      sessions_revoked_through text COLLATE "C" NOT NULL
    );
    COMMENT ON TABLE key_cutoffs IS 'Newest session of an account that lost all access: it and older sessions create no more keys.';
  `);
};

import type { Knex } from 'knex';

/**
 * Lets reports outlive their app, with the name and the owner that it had, and notes when an operator has closed them.
 * The columns are nullable because the previous release does not write them.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE app_reports
  DROP CONSTRAINT app_reports_client_id_fkey,
  ADD COLUMN app_name text,
  ADD COLUMN owner_user_id text COLLATE "C",
  ADD COLUMN closed_at timestamptz;
UPDATE app_reports SET app_name = apps.name, owner_user_id = apps.owner_user_id
  FROM apps WHERE apps.client_id = app_reports.client_id;
CREATE INDEX app_reports_open ON app_reports (client_id) WHERE closed_at IS NULL;
`);
};

import type { Knex } from 'knex';

/** Reports of users about apps, and the mark of an operator that keeps an app inactive. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE apps
  ADD COLUMN suspended_at timestamptz,
  ADD CONSTRAINT apps_suspended_are_inactive CHECK (suspended_at IS NULL OR NOT active);
CREATE TABLE app_reports (
  client_id text COLLATE "C" NOT NULL REFERENCES apps (client_id) ON DELETE CASCADE,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  reported_on date NOT NULL,
  reported_at timestamptz NOT NULL,
  reason text NOT NULL CHECK (reason IN ('impersonation', 'spam', 'misuse', 'other')),
  comment text,
  PRIMARY KEY (client_id, user_id, reported_on)
);
CREATE INDEX app_reports_by_user ON app_reports (user_id);
CREATE INDEX app_reports_by_time ON app_reports (reported_at);
`);
};

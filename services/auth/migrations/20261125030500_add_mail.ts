import type { Knex } from 'knex';

/** Mails wait here until the mail server has taken them. Their data holds links with tokens and is encrypted. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE mails (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind text NOT NULL,
  recipient text NOT NULL,
  locale text NOT NULL CHECK (locale IN ('it', 'en')),
  sealed_data bytea,
  created_at timestamptz NOT NULL,
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  sent_at timestamptz,
  failed_at timestamptz,
  error_code text,
  CONSTRAINT mails_states CHECK (
    (due_at IS NOT NULL AND sealed_data IS NOT NULL AND sent_at IS NULL AND failed_at IS NULL)
    OR (due_at IS NULL AND sealed_data IS NULL AND (sent_at IS NULL) <> (failed_at IS NULL))
  )
);
CREATE INDEX mails_due ON mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mails_by_recipient ON mails (recipient, created_at);
CREATE INDEX mails_by_user ON mails (user_id, kind, created_at);
CREATE INDEX mails_by_age ON mails (created_at);
`);
};

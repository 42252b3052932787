import { auditLogMigration } from '@svc/database';
import type { Knex } from 'knex';

const ID = 'text COLLATE "C"';

/** Members of organizations, the invitations to become one, and what was done for each organization. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE memberships (
      id ${ID} PRIMARY KEY,
      organization_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('viewer', 'billing', 'developer', 'admin', 'owner')),
      -- Grows with each change of the role. Session tokens name it.
      version integer NOT NULL DEFAULT 1 CHECK (version > 0),
      joined_at timestamptz NOT NULL,
      CONSTRAINT memberships_once UNIQUE (organization_id, user_id)
    );
    CREATE INDEX memberships_by_user ON memberships (user_id);

    CREATE TABLE invitations (
      id ${ID} PRIMARY KEY,
      organization_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      digest bytea NOT NULL CONSTRAINT invitations_digest_key UNIQUE,
      email text NOT NULL CONSTRAINT invitations_email_is_normal CHECK (email = lower(email COLLATE "C")),
      role text NOT NULL CHECK (role IN ('viewer', 'billing', 'developer', 'admin', 'owner')),
      -- May have been erased since.
      invited_by ${ID} NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      CONSTRAINT invitations_once UNIQUE (organization_id, email)
    );
    CREATE INDEX invitations_by_email ON invitations (email);
    CREATE INDEX invitations_by_expiry ON invitations (expires_at);
  `);
  await auditLogMigration(knex);
};

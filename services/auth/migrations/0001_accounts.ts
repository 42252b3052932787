import { inboxMigration, outboxMigration } from '@svc/messaging';
import { secretChecksMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Ids sort by time byte by byte. "C" keeps that true regardless of the database's language. */
const ID = 'text COLLATE "C"';

/** Facts that leave and arrive; accounts, the ways to sign in to them, their sessions, mails and domains. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
  await inboxMigration(knex);
  await secretChecksMigration(knex);
  await knex.raw(ACCOUNTS);
  await knex.raw(SESSIONS);
  await knex.raw(CREDENTIALS);
  await knex.raw(MAILS);
  await knex.raw(PUBLISHERS);
};

const ACCOUNTS = `
CREATE TABLE accounts (
  id ${ID} PRIMARY KEY,
  email text NOT NULL CONSTRAINT accounts_email_key UNIQUE,
  email_verified_at timestamptz,
  -- Null for an account that signs in through a provider.
  password_hash text,
  has_second_factor boolean NOT NULL DEFAULT false,
  account_type text NOT NULL CHECK (account_type IN ('personal', 'business')),
  business_name text,
  -- Only members with a second factor may act for the organization.
  requires_second_factor boolean NOT NULL DEFAULT false,
  display_name text,
  locale text NOT NULL CHECK (locale IN ('it', 'en')),
  created_at timestamptz NOT NULL,
  -- The first sign-in comes from a new device and mails no notice.
  first_signed_in_at timestamptz,
  -- Newest session that was signed out with all others, so that a sign-in that began before does not slip through.
  sessions_revoked_through ${ID},
  -- Credentials added since then may be those of an intruder, until the next reset.
  distrusted_since timestamptz,
  erase_at timestamptz,
  -- Version of the facts about the deletion.
  deletion_version integer NOT NULL DEFAULT 0,
  CONSTRAINT accounts_email_is_normal CHECK (email = lower(email COLLATE "C")),
  CONSTRAINT accounts_business_has_name CHECK (account_type <> 'business' OR business_name IS NOT NULL)
);
CREATE INDEX accounts_to_erase ON accounts (erase_at) WHERE erase_at IS NOT NULL;

-- Pseudonymous ids of erased accounts, for services that are restored to a moment before.
CREATE TABLE erased_accounts (
  user_id ${ID} PRIMARY KEY,
  erased_at timestamptz NOT NULL
);
CREATE INDEX erased_accounts_by_time ON erased_accounts (erased_at);
`;

const SESSIONS = `
CREATE TABLE console_sessions (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  -- Last time that the person proved who they are.
  authenticated_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  user_agent text,
  network text,
  -- Organization that the person acts for. Null for an account that acts for itself, which a business account does too.
  organization_id ${ID} REFERENCES accounts (id) ON DELETE CASCADE,
  -- Session of the sign-in from which this one was switched. It ends with that, and counts as its use.
  sign_in_id ${ID}
);
CREATE INDEX console_sessions_by_user ON console_sessions (user_id);
CREATE INDEX console_sessions_by_sign_in ON console_sessions (sign_in_id) WHERE sign_in_id IS NOT NULL;
CREATE INDEX console_sessions_by_organization ON console_sessions (organization_id, user_id)
  WHERE organization_id IS NOT NULL;
CREATE INDEX console_sessions_by_expiry ON console_sessions (expires_at);

CREATE TABLE sign_in_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  address_digest bytea NOT NULL,
  source_digest bytea NOT NULL,
  attempted_at timestamptz NOT NULL
);
CREATE INDEX sign_in_attempts_by_address ON sign_in_attempts (address_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_source ON sign_in_attempts (source_digest, attempted_at);
CREATE INDEX sign_in_attempts_by_time ON sign_in_attempts (attempted_at);

-- Sign-ins that wait for the second factor.
CREATE TABLE sign_in_challenges (
  digest bytea PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  sessions_revoked_through ${ID},
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_challenges_by_user ON sign_in_challenges (user_id);
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_at);
`;

const CREDENTIALS = `
CREATE TABLE sso_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX sso_identities_by_user ON sso_identities (user_id);

CREATE TABLE totp_factors (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  sealed_secret bytea NOT NULL,
  created_at timestamptz NOT NULL,
  confirmed_at timestamptz,
  last_step integer,
  last_used_at timestamptz,
  CONSTRAINT totp_factors_confirmed_with_step CHECK ((confirmed_at IS NULL) = (last_step IS NULL))
);
CREATE INDEX totp_factors_by_user ON totp_factors (user_id);
CREATE INDEX totp_factors_by_key ON totp_factors (substr(sealed_secret, 1, 8));
CREATE INDEX totp_factors_unconfirmed ON totp_factors (created_at) WHERE confirmed_at IS NULL;

CREATE TABLE recovery_codes (
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  digest bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, digest)
);

CREATE TABLE passkeys (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  credential_id ${ID} NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL CHECK (counter >= 0),
  transports text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id)
);
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE management_keys (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- Person who created the key; may have been erased since.
  created_by ${ID} NOT NULL,
  -- Session that created the key: what the key creates elsewhere ends with what that session has created.
  session_id ${ID} NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  digest bytea NOT NULL CONSTRAINT management_keys_digest_key UNIQUE,
  scopes text[] NOT NULL CONSTRAINT management_keys_scopes_given CHECK (cardinality(scopes) > 0),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX management_keys_by_user ON management_keys (user_id);
CREATE INDEX management_keys_by_creator ON management_keys (created_by);

-- Challenges are signed, so only those that were used are stored, until they expire.
CREATE TABLE used_passkey_challenges (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_passkey_challenges_by_expiry ON used_passkey_challenges (expires_at);

CREATE TABLE password_reset_requests (
  id uuid PRIMARY KEY,
  sealed_request bytea NOT NULL,
  requested_at timestamptz NOT NULL
);
CREATE INDEX password_reset_requests_by_age ON password_reset_requests (requested_at);
`;

const MAILS = `
-- Mails wait here until the mail server has taken them. Their data holds links with tokens and is encrypted.
CREATE TABLE mails (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  kind text NOT NULL,
  -- Identifies a mail that another service asks for, so that a repeated request mails nothing.
  notice_id text CONSTRAINT mails_notice_id_unique UNIQUE,
  recipient text NOT NULL,
  -- Known device that asked for the mail, which has a separate budget; null for all other mails.
  device_id text,
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
CREATE INDEX mails_by_key ON mails (substr(sealed_data, 1, 8)) WHERE sealed_data IS NOT NULL;
CREATE INDEX mails_due ON mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mails_by_recipient ON mails (recipient, created_at);
CREATE INDEX mails_by_user ON mails (user_id, kind, created_at);
CREATE INDEX mails_by_age ON mails (created_at);

-- Tokens of links in mails, each good once for one purpose.
CREATE TABLE mailed_tokens (
  digest bytea PRIMARY KEY,
  purpose text NOT NULL,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Identity that the link links.
  issuer text,
  subject text,
  CONSTRAINT mailed_tokens_identity CHECK ((purpose = 'link_identity') = (issuer IS NOT NULL AND subject IS NOT NULL))
);
CREATE INDEX mailed_tokens_by_user ON mailed_tokens (user_id, purpose);
CREATE INDEX mailed_tokens_by_expiry ON mailed_tokens (expires_at);
CREATE INDEX mailed_tokens_by_former_email ON mailed_tokens (email) WHERE purpose = 'undo_email';
`;

const PUBLISHERS = `
-- Domains of businesses. At most one account has a domain verified.
CREATE TABLE publisher_domains (
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  domain ${ID} NOT NULL,
  token text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'verified', 'lapsed')),
  created_at timestamptz NOT NULL,
  verified_at timestamptz,
  checked_at timestamptz,
  failing_since timestamptz,
  PRIMARY KEY (user_id, domain),
  CONSTRAINT publisher_domains_verified_at_a_time CHECK (status = 'pending' OR verified_at IS NOT NULL)
);
CREATE UNIQUE INDEX publisher_domains_verified ON publisher_domains (domain) WHERE status = 'verified';
CREATE INDEX publisher_domains_to_check ON publisher_domains (checked_at) WHERE status = 'verified';
`;

import type { Knex } from 'knex';

/** Ids sort by time byte by byte. "C" keeps that true regardless of the database's language. */
const ID = 'text COLLATE "C"';

/** Signing keys, grants, and the codes and tokens of the protocol. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(SIGNING_KEYS);
  await knex.raw(GRANTS);
  await knex.raw(REQUESTS);
};

const SIGNING_KEYS = `
CREATE TABLE signing_keys (
  kid text PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
  public_jwk jsonb NOT NULL,
  sealed_private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  activated_at timestamptz,
  retired_at timestamptz,
  CONSTRAINT signing_keys_states CHECK (
    (state = 'next' AND activated_at IS NULL AND retired_at IS NULL)
    OR (state = 'active' AND activated_at IS NOT NULL AND retired_at IS NULL)
    OR (state = 'retired' AND activated_at IS NOT NULL AND retired_at IS NOT NULL)
  )
);
CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys (state) WHERE state = 'active';
CREATE UNIQUE INDEX signing_keys_one_next ON signing_keys (state) WHERE state = 'next';
`;

const GRANTS = `
CREATE TABLE grants (
  id ${ID} PRIMARY KEY,
  user_id ${ID} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id ${ID} NOT NULL,
  scope text NOT NULL,
  -- Name that the device has given. Null for a consent in a browser.
  device_name text,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX grants_by_connection ON grants (user_id, client_id);
CREATE INDEX grants_by_app ON grants (client_id, id);
CREATE INDEX grants_by_expiry ON grants (expires_at);

CREATE TABLE authorization_codes (
  digest bytea PRIMARY KEY,
  grant_id ${ID} NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  redirect_uri text NOT NULL,
  code_challenge text NOT NULL,
  -- RFC 9449 §10: thumbprint of the key that the code is bound to.
  dpop_jkt text,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  consumed_at timestamptz
);
CREATE INDEX authorization_codes_by_grant ON authorization_codes (grant_id);
CREATE INDEX authorization_codes_unused_by_expiry ON authorization_codes (expires_at) WHERE consumed_at IS NULL;

-- One row per grant. Its tokens name their family, so that one that was replaced long ago is still recognized.
CREATE TABLE refresh_tokens (
  grant_id ${ID} PRIMARY KEY REFERENCES grants (id) ON DELETE CASCADE,
  -- Digest of what all tokens of the grant begin with.
  family bytea NOT NULL,
  -- Digests of siblings, handed out for one predecessor. Any one of them may be presented next.
  digests bytea[] NOT NULL CHECK (cardinality(digests) BETWEEN 1 AND 5),
  -- Digest of the token for which they were handed out. Null if that was a code.
  predecessor bytea,
  predecessor_used_at timestamptz,
  -- RFC 9449 section 5: thumbprint of the key that the tokens are bound to.
  jkt text,
  issued_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT refresh_tokens_predecessor CHECK ((predecessor IS NULL) = (predecessor_used_at IS NULL))
) WITH (fillfactor = 70);
`;

const REQUESTS = `
-- RFC 9126.
CREATE TABLE pushed_requests (
  digest bytea PRIMARY KEY,
  client_id ${ID} NOT NULL REFERENCES apps (client_id) ON DELETE CASCADE,
  parameters jsonb NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX pushed_requests_by_expiry ON pushed_requests (expires_at);

-- RFC 8628. Requests of devices: pending until someone approves or denies them.
CREATE TABLE device_codes (
  digest bytea PRIMARY KEY,
  client_id ${ID} NOT NULL REFERENCES apps (client_id) ON DELETE CASCADE,
  -- Without its dash. Null once the request is decided, so that no code is accepted twice.
  user_code text UNIQUE,
  scope text NOT NULL,
  authorization_details text,
  device_name text,
  network text,
  expires_at timestamptz NOT NULL,
  denied_at timestamptz,
  -- Set when the request is approved. The row ends with its grant.
  grant_id ${ID} REFERENCES grants (id) ON DELETE CASCADE,
  redeemed_at timestamptz,
  CONSTRAINT device_codes_decided CHECK ((user_code IS NULL) = (denied_at IS NOT NULL OR grant_id IS NOT NULL))
);
CREATE INDEX device_codes_by_grant ON device_codes (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX device_codes_by_expiry ON device_codes (expires_at);

-- RFC 9449 §11.1: proofs that were used.
CREATE TABLE dpop_proofs (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX dpop_proofs_by_expiry ON dpop_proofs (expires_at);

-- A form that was denied has ended its request: kept by a browser and sent again, it approves nothing.
CREATE TABLE denied_forms (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX denied_forms_by_expiry ON denied_forms (expires_at);
`;

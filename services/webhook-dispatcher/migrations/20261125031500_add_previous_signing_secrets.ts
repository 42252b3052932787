import type { Knex } from 'knex';

/**
 * Lets a rotated signing secret sign beside the new one until it expires. The version, which grows with each rotation, tells
 * workers on every replica that their cached secret is old.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `ALTER TABLE configurations
       ADD COLUMN previous_key_id text,
       ADD COLUMN previous_sealed bytea,
       ADD COLUMN previous_expires_at timestamptz,
       ADD CONSTRAINT configurations_previous
         CHECK (num_nonnulls(previous_key_id, previous_sealed, previous_expires_at) IN (0, 3))`,
  );
  await knex.raw('ALTER TABLE lanes ADD COLUMN secret_version integer NOT NULL DEFAULT 1');
};

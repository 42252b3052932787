import type { Knex } from 'knex';

/** What an app asks for itself: only pushed requests (RFC 9126), only bound tokens (RFC 9449). */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE apps
  ADD COLUMN require_pushed_authorization_requests boolean NOT NULL DEFAULT false,
  ADD COLUMN dpop_bound_access_tokens boolean NOT NULL DEFAULT false;
`);
};

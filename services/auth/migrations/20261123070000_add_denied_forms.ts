import type { Knex } from 'knex';

/** A request that was denied on its page has ended: its form approves nothing any more, wherever the browser goes back to. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE denied_forms (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX denied_forms_by_expiry ON denied_forms (expires_at);
`);
};

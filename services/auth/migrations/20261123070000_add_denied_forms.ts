import type { Knex } from 'knex';

/** A form that was denied has ended its request: kept by a browser and sent again, it approves nothing. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE denied_forms (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX denied_forms_by_expiry ON denied_forms (expires_at);
`);
};

import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/**
 * Counts how often a refresh token is presented again, and exchanges codes and tokens by one function. The functions of
 * the release before stay for its replicas, which go on running during a rollout.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(
    'ALTER TABLE refresh_tokens ADD COLUMN replays smallint NOT NULL DEFAULT 0 CHECK (replays BETWEEN 0 AND 4)',
  );
  for (const name of ['refresh_use', 'exchange_tokens']) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};

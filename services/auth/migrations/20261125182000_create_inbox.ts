import { inboxEpochMigration, inboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Facts of other services arrive here. */
export const up = async (knex: Knex): Promise<void> => {
  await inboxMigration(knex);
  await inboxEpochMigration(knex);
};

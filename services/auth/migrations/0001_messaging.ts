import { inboxMigration, outboxMigration } from '@svc/messaging';
import { secretChecksMigration } from '@svc/secrets';
import type { Knex } from 'knex';

/** Facts that leave this service, and those that have arrived. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
  await inboxMigration(knex);
  await secretChecksMigration(knex);
};

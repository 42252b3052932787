import { inboxEpochMigration, outboxEpochMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** A restored database begins a new epoch, which its facts carry. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxEpochMigration(knex);
  await inboxEpochMigration(knex);
};

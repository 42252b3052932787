import { inboxEpochMigration, outboxEpochMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** A restored database begins a new epoch, which its facts carry. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxEpochMigration(knex);
  await inboxEpochMigration(knex);
  await knex.raw(`
    ALTER TABLE customers ADD COLUMN announced_epoch uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
    ALTER TABLE customers ALTER COLUMN announced_epoch SET DEFAULT current_epoch();
  `);
};

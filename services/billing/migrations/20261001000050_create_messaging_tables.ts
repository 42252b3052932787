import { inboxMigration, outboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Facts that leave this service, and those that have arrived. */
export async function up(knex: Knex): Promise<void> {
  await outboxMigration(knex);
  await inboxMigration(knex);
}

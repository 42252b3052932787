import type { Knex } from 'knex';
import {
  inboxEpochMigration,
  inboxMigration,
  outboxEpochMigration,
  outboxMigration,
  outboxTraceMigration,
} from '../../src/index.ts';

export async function up(knex: Knex): Promise<void> {
  await outboxMigration(knex);
  await outboxTraceMigration(knex);
  await outboxEpochMigration(knex);
  await inboxMigration(knex);
  await inboxEpochMigration(knex);
  await knex.raw(`
    CREATE TABLE app (client_id text PRIMARY KEY, version bigint NOT NULL);
    CREATE TABLE effect (seq bigint GENERATED ALWAYS AS IDENTITY, event_id uuid NOT NULL, aggregate text NOT NULL, version bigint NOT NULL);
  `);
}

import type { Knex } from 'knex';
import { inboxMigration, outboxMigration } from '../../src/index.ts';

export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
  await inboxMigration(knex);
  await knex.raw(`
    CREATE TABLE app (client_id text PRIMARY KEY, version bigint NOT NULL);
    CREATE TABLE effect (seq bigint GENERATED ALWAYS AS IDENTITY, event_id uuid NOT NULL, aggregate text NOT NULL, version bigint NOT NULL);
  `);
};

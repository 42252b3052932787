import { outboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Facts and revocations wait here for the relay. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
};

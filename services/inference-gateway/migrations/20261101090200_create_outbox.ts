import { outboxMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Facts and revocations that commit with the state they tell of. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxMigration(knex);
};

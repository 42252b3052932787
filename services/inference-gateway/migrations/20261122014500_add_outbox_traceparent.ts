import { outboxTraceMigration } from '@svc/messaging';
import type { Knex } from 'knex';

/** Facts carry the trace of the request that caused them, where traces are on. */
export const up = async (knex: Knex): Promise<void> => {
  await outboxTraceMigration(knex);
};

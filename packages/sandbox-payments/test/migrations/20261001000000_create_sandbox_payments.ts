import type { Knex } from 'knex';
import { sandboxPaymentsMigration } from '../../src/migration.ts';

export const up = (knex: Knex): Promise<void> => sandboxPaymentsMigration(knex);

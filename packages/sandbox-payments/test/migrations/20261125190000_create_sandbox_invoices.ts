import type { Knex } from 'knex';
import { sandboxInvoicesMigration } from '../../src/migration.ts';

export const up = (knex: Knex): Promise<void> => sandboxInvoicesMigration(knex);

import type { Knex } from 'knex';
import { sandboxChargesMigration } from '../../src/migration.ts';

export const up = (knex: Knex): Promise<void> => sandboxChargesMigration(knex);

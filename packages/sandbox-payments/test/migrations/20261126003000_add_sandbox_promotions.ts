import type { Knex } from 'knex';
import { sandboxPromotionsMigration } from '../../src/migration.ts';

export const up = (knex: Knex): Promise<void> => sandboxPromotionsMigration(knex);

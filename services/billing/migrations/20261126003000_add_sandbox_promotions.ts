import { sandboxPromotionsMigration } from '@svc/sandbox-payments/migration';
import type { Knex } from 'knex';

export const up = (knex: Knex): Promise<void> => sandboxPromotionsMigration(knex);

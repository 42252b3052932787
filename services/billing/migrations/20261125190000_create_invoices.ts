import { sandboxInvoicesMigration } from '@svc/sandbox-payments/migration';
import type { Knex } from 'knex';

/** Adds the sandbox's invoices, and marks automatic charges that have theirs. */
export const up = async (knex: Knex): Promise<void> => {
  await sandboxInvoicesMigration(knex);
  await knex.raw(`
    ALTER TABLE checkout_sessions ADD COLUMN invoiced_at timestamptz;
    CREATE INDEX checkout_sessions_without_invoice ON checkout_sessions (completed_at)
      WHERE is_automatic AND status = 'complete' AND invoiced_at IS NULL;
  `);
};

import { sandboxChargesMigration } from '@svc/sandbox-payments/migration';
import type { Knex } from 'knex';

/** Adds automatic top-ups. Each charge is a checkout session without a hosted page. */
export const up = async (knex: Knex): Promise<void> => {
  await sandboxChargesMigration(knex);
  await knex.raw(`
    CREATE TABLE auto_top_ups (
      svc_user_id text PRIMARY KEY,
      is_enabled boolean NOT NULL,
      below_micros bigint NOT NULL CHECK (below_micros >= 0),
      amount_micros bigint NOT NULL CHECK (amount_micros > 0),
      monthly_max_micros bigint NOT NULL CHECK (monthly_max_micros >= 0)
    );
    CREATE INDEX auto_top_ups_enabled ON auto_top_ups (svc_user_id) WHERE is_enabled;
    ALTER TABLE checkout_sessions ADD COLUMN is_automatic boolean NOT NULL DEFAULT false;
    CREATE UNIQUE INDEX checkout_sessions_one_automatic ON checkout_sessions (svc_user_id)
      WHERE is_automatic AND status = 'open';
    CREATE INDEX checkout_sessions_automatic ON checkout_sessions (svc_user_id, created_at) WHERE is_automatic;
  `);
};

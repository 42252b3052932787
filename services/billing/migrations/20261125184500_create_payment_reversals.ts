import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** Adds refunds and disputes of top-ups that were made at the payment provider. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE payment_reversals (
      provider text NOT NULL,
      provider_reversal_id text NOT NULL,
      svc_user_id text NOT NULL,
      session_id text NOT NULL REFERENCES checkout_sessions (id),
      kind text NOT NULL CHECK (kind IN ('refund', 'dispute')),
      -- Taken from the wallet now; 0 once a refund has failed or a dispute is won.
      amount_micros bigint NOT NULL CHECK (amount_micros >= 0),
      -- Part of the ledger reference, so that each change has one posting.
      changes int NOT NULL DEFAULT 1,
      -- Taken before the provider was asked. Older answers have no effect.
      provider_ticket bigint NOT NULL,
      updated_at timestamptz NOT NULL,
      PRIMARY KEY (provider, provider_reversal_id)
    );
    CREATE INDEX payment_reversals_by_session ON payment_reversals (session_id);
  `);
  await knex.raw(readFileSync(new URL('./functions/wallet_reverse.sql', import.meta.url), 'utf8'));
};

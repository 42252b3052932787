import type { Knex } from 'knex';

/** Refunds of top-ups: taken from the wallet first, then paid back by the payment provider, or put back where it refuses. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE wallet_refunds (
      id text PRIMARY KEY,
      svc_user_id text NOT NULL,
      session_id text NOT NULL REFERENCES checkout_sessions (id),
      amount_micros bigint NOT NULL CHECK (amount_micros > 0),
      state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'refunded', 'refused')),
      created_at timestamptz NOT NULL,
      ended_at timestamptz CHECK ((ended_at IS NOT NULL) = (state <> 'pending'))
    );
    CREATE INDEX wallet_refunds_by_session ON wallet_refunds (session_id);
    CREATE INDEX wallet_refunds_pending ON wallet_refunds (created_at) WHERE state = 'pending';

    -- Takes a refund from what is available; false where that is less.
    CREATE FUNCTION wallet_refund(p_svc_user_id text, p_amount_micros bigint, p_reference text)
    RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE w wallets%ROWTYPE;
    BEGIN
      SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
      IF NOT FOUND OR w.balance_micros - w.held_micros < p_amount_micros THEN RETURN false; END IF;
      PERFORM ledger_post('refund', p_reference, p_svc_user_id, w.currency,
        ARRAY['wallet_available', 'payments_received'], ARRAY[-p_amount_micros, p_amount_micros]);
      UPDATE wallets SET balance_micros = balance_micros - p_amount_micros WHERE svc_user_id = p_svc_user_id;
      RETURN true;
    END $$;

    -- Puts back what the payment provider has refused to pay.
    CREATE FUNCTION wallet_refund_refused(p_svc_user_id text, p_amount_micros bigint, p_reference text)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE w wallets%ROWTYPE;
    BEGIN
      SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
      PERFORM ledger_post('adjustment', p_reference, p_svc_user_id, w.currency,
        ARRAY['wallet_available', 'payments_received'], ARRAY[p_amount_micros, -p_amount_micros]);
      UPDATE wallets SET balance_micros = balance_micros + p_amount_micros WHERE svc_user_id = p_svc_user_id;
    END $$;
  `);
}

import type { Knex } from 'knex';

/**
 * Prepaid wallets. The row is a running total of the ledger: `balance_micros` = available + held. A hold never exceeds what
 * is available; only a request that costs more than was held for it can leave a balance below zero.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE wallets (
      svc_user_id text PRIMARY KEY,
      currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
      balance_micros bigint NOT NULL DEFAULT 0,
      held_micros bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
      revision int NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    ) WITH (fillfactor = 50);

    -- Credits a payment once per reference and answers the wallet's new revision; null where it was credited before.
    CREATE FUNCTION wallet_credit(p_svc_user_id text, p_amount_micros bigint, p_currency text, p_reference text)
    RETURNS int LANGUAGE plpgsql AS $$
    DECLARE w wallets%ROWTYPE;
    BEGIN
      INSERT INTO wallets (svc_user_id, currency, created_at) VALUES (p_svc_user_id, p_currency, billing_now())
        ON CONFLICT (svc_user_id) DO NOTHING;
      SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
      IF w.currency <> p_currency THEN
        RAISE EXCEPTION 'a wallet in % cannot take %', w.currency, p_currency USING ERRCODE = 'check_violation';
      END IF;
      IF EXISTS (SELECT FROM ledger_postings WHERE reference = p_reference AND kind = 'top_up') THEN RETURN NULL; END IF;
      PERFORM ledger_post('top_up', p_reference, p_svc_user_id, p_currency,
        ARRAY['wallet_available', 'payments_received'], ARRAY[p_amount_micros, -p_amount_micros]);
      UPDATE wallets SET balance_micros = balance_micros + p_amount_micros, revision = revision + 1
        WHERE svc_user_id = p_svc_user_id;
      RETURN w.revision + 1;
    END $$;

    -- Moves money between what is available and what is held; the caller has locked the wallet and checked the balance.
    CREATE FUNCTION wallet_hold(p_svc_user_id text, p_amount_micros bigint, p_request_id text)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE in_currency text;
    BEGIN
      UPDATE wallets SET held_micros = held_micros + p_amount_micros
        WHERE svc_user_id = p_svc_user_id RETURNING currency INTO STRICT in_currency;
      PERFORM ledger_post('hold', p_request_id, p_svc_user_id, in_currency,
        ARRAY['wallet_available', 'wallet_held'], ARRAY[-p_amount_micros, p_amount_micros]);
    END $$;

    -- Ends a hold and books a cost, both as differences: a release has no cost, an adjustment no hold.
    CREATE FUNCTION wallet_settle(
      p_svc_user_id text, p_kind text, p_request_id text, p_released_micros bigint, p_cost_micros bigint)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE in_currency text;
    BEGIN
      UPDATE wallets SET held_micros = held_micros - p_released_micros, balance_micros = balance_micros - p_cost_micros
        WHERE svc_user_id = p_svc_user_id RETURNING currency INTO STRICT in_currency;
      PERFORM ledger_post(p_kind, p_request_id, p_svc_user_id, in_currency,
        ARRAY['wallet_held', 'wallet_available', 'income'],
        ARRAY[-p_released_micros, p_released_micros - p_cost_micros, p_cost_micros]);
    END $$;
  `);
}

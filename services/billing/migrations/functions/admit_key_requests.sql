-- Decides on API-key requests, each independently. An admitted request holds its maximum cost from the wallet's
-- available balance, and counts in the key's minute and month. Idempotent by request id. A repeated idempotency key
-- returns its first request.
-- With a token limit, a minute reserves the tokens of the request, or the rest of the minute if that is at least
-- `tokens_least`.
-- Locks wallets in the order of their accounts, each before its keys.
CREATE OR REPLACE FUNCTION admit_key_requests(
  p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute int[],
  p_monthly_limits bigint[], p_holder_ids text[], p_estimates bigint[], p_idempotency_keys text[],
  p_tokens_per_minute int[], p_tokens bigint[], p_tokens_least bigint[]
) RETURNS TABLE (
  place bigint, verdict text, resets_at timestamptz, rate_remaining int, rate_reset_ms int, tokens_remaining int,
  duplicate_of text, duplicate_state text
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
DECLARE
  q record;
  at timestamptz;
  -- The wallet and the key of the request, after the requests before it.
  owner_id text;
  available bigint;
  k key_budgets%ROWTYPE;
  -- What this call has changed, and not written yet.
  held wallet_hold[] := '{}';
  keys key_budgets[] := '{}';
  is_key_changed boolean := false;
  key_hash bytea;
  reserved_tokens bigint;
BEGIN
  FOR q IN
    SELECT * FROM unnest(p_request_ids, p_svc_user_ids, p_key_ids, p_holds, p_per_minute, p_monthly_limits, p_holder_ids,
        p_estimates, p_idempotency_keys, p_tokens_per_minute, p_tokens, p_tokens_least)
      WITH ORDINALITY AS t (request_id, svc_user_id, key_id, hold, per_minute, monthly_limit, holder_id, estimate,
        idempotency_key, tokens_per_minute, tokens, tokens_least, place)
    ORDER BY t.svc_user_id, t.key_id, t.place
  LOOP
    IF owner_id IS DISTINCT FROM q.svc_user_id THEN
      owner_id := q.svc_user_id;
      SELECT w.balance_micros - w.held_micros INTO available
        FROM wallets AS w WHERE w.svc_user_id = q.svc_user_id FOR NO KEY UPDATE;
    END IF;
    IF k.key_id IS DISTINCT FROM q.key_id THEN
      IF is_key_changed THEN keys := keys || k; END IF;
      is_key_changed := false;
      SELECT * INTO k FROM key_budgets AS b WHERE b.key_id = q.key_id FOR NO KEY UPDATE;
    END IF;
    at := billing_now();
    k := with_current_key_windows(k, at);
    k.key_id := q.key_id;
    k.svc_user_id := q.svc_user_id;

    key_hash := sha256(convert_to(q.idempotency_key, 'UTF8'));
    SELECT r.verdict, r.duplicate_of, r.duplicate_state INTO verdict, duplicate_of, duplicate_state
      FROM recall_key_request(q.request_id, q.svc_user_id, q.key_id, key_hash) AS r;

    verdict := coalesce(verdict, CASE
      WHEN k.minute_count >= q.per_minute OR q.tokens_per_minute - k.minute_tokens < q.tokens_least
        THEN 'rate_limit_exceeded'
      WHEN q.monthly_limit < CASE WHEN q.monthly_limit IS NOT NULL
          THEN k.month_used_micros + key_held_micros(q.key_id, k.month_start) + q.hold END
        THEN 'key_monthly_limit_exceeded'
      WHEN available >= q.hold THEN NULL
      ELSE 'insufficient_balance'
    END);
    IF verdict IS NULL THEN
      reserved_tokens := least(q.tokens, q.tokens_per_minute - k.minute_tokens);
      INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, reported_micros, holder_id,
          month_start, created_at, idempotency_key_hash, minute_start, tokens)
        VALUES (q.request_id, 'api_key', q.svc_user_id, q.key_id, q.hold, q.estimate, q.holder_id, k.month_start, at,
          key_hash, CASE WHEN q.tokens_per_minute IS NOT NULL THEN k.minute_start END,
          CASE WHEN q.tokens_per_minute IS NOT NULL THEN reserved_tokens END)
        ON CONFLICT DO NOTHING;
      verdict := CASE WHEN FOUND THEN 'admitted' ELSE 'request_id_taken' END;
      IF FOUND THEN
        available := available - q.hold;
        held := held || (q.svc_user_id, q.hold)::wallet_hold;
        -- The minutes of a key without a limit count nothing.
        k.minute_count := k.minute_count + (q.per_minute IS NOT NULL)::int;
        IF q.tokens_per_minute IS NOT NULL THEN
          k.minute_tokens := k.minute_tokens + coalesce(reserved_tokens, 0);
        END IF;
        k.month_limit_micros := q.monthly_limit;
        is_key_changed := true;
      END IF;
    END IF;

    place := q.place;
    rate_remaining := greatest(q.per_minute - k.minute_count, 0);
    tokens_remaining := greatest(q.tokens_per_minute - k.minute_tokens, 0);
    rate_reset_ms := least(60000, ceil(extract(epoch FROM k.minute_start + interval '60 seconds' - at) * 1000));
    resets_at := CASE verdict WHEN 'key_monthly_limit_exceeded' THEN monthly_anniversary(k.month_start, 1)
      WHEN 'rate_limit_exceeded' THEN k.minute_start + interval '60 seconds' END;
    RETURN NEXT;
  END LOOP;
  IF is_key_changed THEN keys := keys || k; END IF;
  PERFORM write_key_admissions(held, keys);
END $$;

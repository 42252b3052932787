-- Applies the reports of leases, and grants them what their requests need and their keys will need soon. Decides each ask on
-- its own, in the form of the contract. What is granted leaves balance, month and minute at once. A locked wallet is `busy`: it
-- delays no other.
-- `recalled` are other leases whose unspent parts a refused request may get. The caller recalls them, reports them, and asks
-- again for what was refused (`has_recalled`); a request that is asked for again is no duplicate of itself. A request that accepts less
-- gets what is left once nothing can be recalled for it.
CREATE OR REPLACE FUNCTION ask_leases(p_holder_id uuid, p_asks jsonb)
RETURNS TABLE (place bigint, answer jsonb, recalled uuid[])
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  q record;
  at timestamptz;
  w wallets%ROWTYPE;
  k key_budgets%ROWTYPE;
  l leases%ROWTYPE;
  reported record;
  need jsonb;
  verdict text;
  decision jsonb;
  decisions jsonb;
  held_before bigint;
  amount bigint;
  wallet_left bigint;
  -- Verdict by which leases are recalled.
  lacking text;
  month_left bigint;
  -- NULL without a limit of the key's member.
  member_left bigint;
  grant_tokens bigint;
  ahead record;
  per_minute int;
  token_limit bigint;
  monthly_limit bigint;
  lease_state text;
BEGIN
  FOR q IN
    SELECT t.place, t.ask ->> 'svc_user_id' AS svc_user_id, t.ask ->> 'key_id' AS key_id, t.ask ->> 'member_id' AS member_id,
        (t.ask ->> 'lease_id')::uuid AS lease_id, t.ask -> 'limits' AS limits, t.ask -> 'report' AS report, t.ask -> 'needs' AS needs, t.ask -> 'wanted' AS wanted,
        coalesce((t.ask ->> 'has_unanswered')::boolean, false) AS has_unanswered,
        coalesce((t.ask ->> 'has_recalled')::boolean, false) AS has_recalled
      FROM jsonb_array_elements(p_asks) WITH ORDINALITY AS t (ask, place)
      -- What one key gets ahead of need must not be what another is refused.
      ORDER BY t.ask ->> 'svc_user_id', (t.ask #>> '{wanted,micros}')::bigint, t.ask ->> 'key_id', t.place
  LOOP
    place := q.place;
    recalled := NULL;
    decisions := '[]';
    per_minute := (q.limits ->> 'requests_per_minute')::int;
    token_limit := (q.limits ->> 'tokens_per_minute')::bigint;
    monthly_limit := (q.limits ->> 'monthly_limit_micros')::bigint;
    SELECT * INTO w FROM wallets AS v WHERE v.svc_user_id = q.svc_user_id FOR NO KEY UPDATE SKIP LOCKED;
    at := billing_now();
    IF NOT FOUND AND EXISTS (SELECT FROM wallets AS v WHERE v.svc_user_id = q.svc_user_id) THEN
      answer := lease_answer('busy', l, k, at, q.limits, decisions);
      RETURN NEXT;
      CONTINUE;
    END IF;
    SELECT * INTO k FROM key_budgets AS b WHERE b.key_id = q.key_id;
    k := with_current_key_windows(k, at);
    k.key_id := q.key_id;
    k.svc_user_id := q.svc_user_id;
    k.member_id := q.member_id;
    SELECT * INTO l FROM leases AS v WHERE v.lease_id = q.lease_id;
    IF NOT FOUND THEN
      l := NULL;
      l.lease_id := q.lease_id;
      l.holder_id := p_holder_id;
      l.svc_user_id := q.svc_user_id;
      l.key_id := q.key_id;
      l.month_start := k.month_start;
      l.minute_start := k.minute_start;
      l.granted_micros := 0; l.returned_micros := 0; l.settled_micros := 0; l.known_micros := 0;
      l.granted_requests := 0; l.returned_requests := 0; l.granted_tokens := 0; l.returned_tokens := 0;
      l.is_remembered := false;
    END IF;
    IF l.ended_at IS NOT NULL OR (l.svc_user_id, l.key_id) <> (q.svc_user_id, q.key_id) THEN
      answer := lease_answer('ended', l, k, at, q.limits, decisions);
      RETURN NEXT;
      CONTINUE;
    END IF;
    held_before := l.granted_micros - l.returned_micros;
    reported := report_lease(l, k, q.report, at);
    l := reported.lease;
    k := reported.key;
    w.held_micros := w.held_micros - (held_before - (l.granted_micros - l.returned_micros));
    held_before := l.granted_micros - l.returned_micros;
    lease_state := CASE WHEN (q.report ->> 'is_ended')::boolean THEN 'ended' WHEN l.month_start <> k.month_start THEN 'over'
      ELSE 'held' END;
    IF lease_state = 'ended' THEN
      l.ended_at := at;
      l.is_remembered := q.has_unanswered;
    ELSIF lease_state = 'held' THEN
      IF monthly_limit IS NOT NULL THEN
        month_left := monthly_limit - k.month_used_micros - (l.granted_micros - l.returned_micros - l.settled_micros) - (
          SELECT coalesce(sum(v.granted_micros - v.returned_micros - v.settled_micros), 0) FROM leases AS v
            WHERE v.svc_user_id = q.svc_user_id AND v.key_id = q.key_id AND v.month_start = k.month_start
              AND v.lease_id <> l.lease_id);
      ELSE
        month_left := NULL;
      END IF;
      member_left := member_left_micros(q.svc_user_id, q.member_id, k.month_start, l.lease_id)
        - (l.granted_micros - l.returned_micros - l.settled_micros);
      FOR need IN SELECT n FROM jsonb_array_elements(q.needs) AS n LOOP
        decision := NULL;
        IF need ? 'idempotency_key' THEN
          decision := jsonb_build_object('verdict', 'duplicate_request', 'duplicate_of',
            recall_key_request(q.key_id, need ->> 'idempotency_key', need ->> 'request_id'));
          IF decision -> 'duplicate_of' = 'null' THEN decision := NULL; END IF;
        END IF;
        amount := (need ->> 'micros')::bigint;
        -- Without a wallet nothing is left, not even for a request without cost.
        wallet_left := coalesce(w.balance_micros - w.held_micros, -1);
        verdict := CASE WHEN decision IS NULL
          THEN refuse_key_request(k, q.limits, need, amount, wallet_left, month_left, member_left) END;
        lacking := CASE WHEN verdict IN ('key_monthly_limit_exceeded', 'member_monthly_limit_exceeded') AND wallet_left < amount
          THEN 'insufficient_balance' WHEN verdict = 'key_monthly_limit_exceeded' AND member_left < amount
          THEN 'member_monthly_limit_exceeded' ELSE verdict END;
        IF verdict <> 'rate_limit_exceeded' AND need ? 'micros_least'
            AND (q.has_recalled OR recallable_leases(l, k, lacking) = '{}') THEN
          amount := greatest(least(wallet_left, month_left, member_left), (need ->> 'micros_least')::bigint);
          verdict := refuse_key_request(k, q.limits, need, amount, wallet_left, month_left, member_left);
        END IF;
        IF verdict IS NOT NULL THEN
          recalled := coalesce(recalled, '{}') || recallable_leases(l, k, lacking);
          decision := jsonb_build_object('verdict', verdict) || CASE verdict
            WHEN 'rate_limit_exceeded' THEN jsonb_build_object('resets_at', wire_time(k.minute_start + interval '60 seconds'))
            ELSE jsonb_build_object('available_micros', greatest(least(wallet_left, month_left, member_left), 0)) END
            || CASE WHEN verdict IN ('key_monthly_limit_exceeded', 'member_monthly_limit_exceeded')
              THEN jsonb_build_object('resets_at', wire_time(monthly_anniversary(k.month_start, 1))) ELSE '{}' END;
        ELSIF decision IS NULL THEN
          decision := '{"verdict": "granted"}';
          IF NOT coalesce((need ->> 'is_probe')::boolean, false) THEN
            IF amount < (need ->> 'micros')::bigint THEN decision := decision || jsonb_build_object('micros', amount); END IF;
            l.granted_micros := l.granted_micros + amount;
            l.known_micros := l.known_micros + least((need ->> 'known_micros')::bigint, amount);
            w.held_micros := w.held_micros + amount;
            month_left := month_left - amount;
            member_left := member_left - amount;
            -- The minutes of a key without a limit count nothing.
            IF per_minute IS NOT NULL THEN
              k.minute_count := k.minute_count + 1;
              l.granted_requests := l.granted_requests + 1;
            END IF;
            IF token_limit IS NOT NULL THEN
              grant_tokens := least((need ->> 'tokens')::bigint, token_limit - k.minute_tokens);
              k.minute_tokens := k.minute_tokens + grant_tokens;
              l.granted_tokens := l.granted_tokens + grant_tokens;
              decision := decision || jsonb_build_object('tokens', grant_tokens);
            END IF;
            IF need ? 'idempotency_key' THEN
              INSERT INTO key_idempotency VALUES (q.key_id, sha256(convert_to(need ->> 'idempotency_key', 'UTF8')),
                need ->> 'request_id', q.lease_id, at) ON CONFLICT DO NOTHING;
            END IF;
          END IF;
        END IF;
        decisions := decisions || decision;
      END LOOP;
      IF cardinality(recalled) > 0 AND NOT q.has_recalled THEN
        PERFORM pause_grants(q.svc_user_id);
      ELSIF recalled IS NULL AND w.svc_user_id IS NOT NULL AND coalesce(w.recalling_until <= at, true) THEN
        SELECT * INTO ahead FROM grant_ahead(q.wanted, least(w.balance_micros - w.held_micros, month_left, member_left),
          per_minute - k.minute_count, token_limit - k.minute_tokens);
        l.granted_micros := l.granted_micros + ahead.micros;
        w.held_micros := w.held_micros + ahead.micros;
        IF per_minute IS NOT NULL THEN
          k.minute_count := k.minute_count + ahead.requests;
          l.granted_requests := l.granted_requests + ahead.requests;
        END IF;
        IF token_limit IS NOT NULL THEN
          k.minute_tokens := k.minute_tokens + ahead.tokens;
          l.granted_tokens := l.granted_tokens + ahead.tokens;
        END IF;
      END IF;
      k.month_limit_micros := monthly_limit;
    END IF;
    IF w.svc_user_id IS NOT NULL THEN PERFORM write_lease(l, k, w.held_micros); END IF;
    answer := lease_answer(lease_state, l, k, at, q.limits, decisions);
    RETURN NEXT;
  END LOOP;
END $$;

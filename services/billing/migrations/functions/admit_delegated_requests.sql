-- Decides on delegated requests, each independently. An admitted request takes one of the account's two places until it
-- is settled, and holds its maximum cost (`p_holds`) from the app's budget. Once a cap is reached, the wallet and the ceiling
-- of extra use hold it too. If the caller sets no output limit, `p_hold_mins` are smaller, and the request holds the rest of
-- whichever has the least. `extra_reason` tells why extra use does not pay a request that a cap refuses.
-- Idempotent by request id. Waits for no lock of a wallet or an account: a locked one is `busy`, which changes nothing and
-- delays no other.
CREATE OR REPLACE FUNCTION admit_delegated_requests(
  p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[],
  p_idempotency_keys text[], p_holder_ids text[], p_holds bigint[], p_hold_mins bigint[], p_past_due_grace interval
) RETURNS TABLE (
  place bigint, verdict text, resets_at timestamptz, duplicate_of text, duplicate_state text, hold_micros bigint,
  extra_reason text
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
DECLARE
  q record;
  at timestamptz;
  a record;
  b app_budgets%ROWTYPE;
  budget_verdict text;
  hold bigint;
  hold_least bigint;
  x extra_standing;
  -- The month of the ceiling, if the wallet can pay.
  extra_month timestamptz;
BEGIN
  FOR q IN
    SELECT * FROM unnest(p_request_ids, p_svc_user_ids, p_client_ids, p_services, p_estimates, p_idempotency_keys,
        p_holder_ids, p_holds, p_hold_mins)
      WITH ORDINALITY AS t (request_id, svc_user_id, client_id, service, estimate, idempotency_key, holder_id, hold,
        hold_min, place)
    ORDER BY t.svc_user_id, t.place
  LOOP
    FOR attempt IN 1..10 LOOP
      at := billing_now();
      b := NULL;
      budget_verdict := NULL;
      hold := coalesce(q.hold, q.estimate);
      hold_least := coalesce(q.hold_min, hold);
      x := NULL;
      extra_month := NULL;
      extra_reason := NULL;
      -- Once it has the lock, PostgreSQL checks the conditions again on the row as it is then. A refusal takes no lock.
      SELECT v.week_start, v.week_end, v.month_start, v.month_end, v.has_app_budgets INTO a
        FROM accounts AS v JOIN plans AS p ON p.id = v.plan_id
        WHERE v.svc_user_id = q.svc_user_id AND status_admits(v.status, v.past_due_since, p_past_due_grace, at)
          AND CASE q.service WHEN 'chat' THEN p.includes_chat ELSE p.includes_audio_transcription END
          AND at < v.week_end AND v.week_used_micros < p.weekly_limit_micros
          AND at < v.month_end AND v.month_used_micros < p.monthly_limit_micros
          AND v.pending < 2
        FOR NO KEY UPDATE OF v SKIP LOCKED;
      IF NOT FOUND THEN
        x := find_extra_standing(q.svc_user_id, at);
        IF x.left_micros >= hold_least THEN
          PERFORM FROM wallets AS w WHERE w.svc_user_id = q.svc_user_id FOR NO KEY UPDATE SKIP LOCKED;
          verdict := CASE WHEN NOT FOUND THEN 'busy' END;
          EXIT WHEN verdict IS NOT NULL;
          x := find_extra_standing(q.svc_user_id, at);
        END IF;
        extra_month := CASE WHEN x.left_micros >= hold_least THEN x.month_start END;
        extra_reason := CASE WHEN x.ceiling_left < hold_least THEN 'ceiling' WHEN x.wallet_left < hold_least THEN 'wallet' END;
      END IF;
      IF extra_month IS NOT NULL THEN
        hold := least(hold, x.left_micros);
        SELECT v.week_start, v.week_end, v.month_start, v.month_end, v.has_app_budgets INTO a
          FROM accounts AS v JOIN plans AS p ON p.id = v.plan_id
          WHERE v.svc_user_id = q.svc_user_id AND status_admits(v.status, v.past_due_since, p_past_due_grace, at)
            AND CASE q.service WHEN 'chat' THEN p.includes_chat ELSE p.includes_audio_transcription END
            AND at < v.week_end AND at < v.month_end
            AND (v.week_used_micros >= p.weekly_limit_micros OR v.month_used_micros >= p.monthly_limit_micros)
            AND v.pending < 2
          FOR NO KEY UPDATE OF v SKIP LOCKED;
      END IF;
      IF a.week_start IS NOT NULL AND a.has_app_budgets THEN
        -- No lock: a budget changes only under that of its account.
        SELECT * INTO b FROM app_budgets AS v WHERE v.svc_user_id = q.svc_user_id AND v.client_id = q.client_id;
        b := with_current_budget_window(b, a.week_start, a.month_start);
        budget_verdict := CASE WHEN b.is_paused THEN 'connection_paused'
          ELSE app_budget_verdict(b, hold_least, at) END;
        -- The clock was read before the lock was there, but the request comes after the limit.
        at := greatest(at, b.limited_since + interval '1 microsecond');
        hold := least(hold, b.limit_micros - b.used_micros - b.uncertain_micros - b.held_micros);
      END IF;
      IF a.week_start IS NOT NULL AND budget_verdict IS NULL THEN
        PERFORM lock_request(q.request_id);
        INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, idempotency_key_hash,
            estimate_micros, budget_micros, holder_id, week_start, month_start, created_at, extra_month)
          SELECT q.request_id, 'delegated', q.svc_user_id, q.client_id, q.service, t.key_hash, q.estimate, hold, q.holder_id,
              a.week_start, a.month_start, at, extra_month
            FROM (SELECT sha256(convert_to(q.idempotency_key, 'UTF8')) AS key_hash) AS t
            WHERE (recall_delegated(q.request_id, q.svc_user_id, q.client_id, t.key_hash)).verdict IS NULL;
        IF FOUND THEN
          UPDATE accounts AS v SET pending = v.pending + 1 WHERE v.svc_user_id = q.svc_user_id;
          IF b.limit_micros IS NOT NULL THEN
            UPDATE app_budgets AS v SET window_start = b.window_start, used_micros = b.used_micros,
                held_micros = b.held_micros + hold, uncertain_micros = b.uncertain_micros
              WHERE v.svc_user_id = q.svc_user_id AND v.client_id = q.client_id;
          END IF;
          IF extra_month IS NOT NULL THEN PERFORM hold_extra(q.svc_user_id, extra_month, hold); END IF;
          verdict := 'admitted';
          hold_micros := hold;
          EXIT;
        END IF;
      END IF;
      SELECT r.verdict, r.resets_at, r.duplicate_of, r.duplicate_state
        INTO verdict, resets_at, duplicate_of, duplicate_state
        FROM refuse_delegated(q.request_id, q.svc_user_id, q.client_id, q.service, q.idempotency_key,
          p_past_due_grace, at, extra_month IS NOT NULL) AS r;
      IF coalesce(verdict, '') NOT IN ('weekly_limit_exceeded', 'monthly_limit_exceeded') THEN
        extra_reason := NULL;
      ELSIF extra_reason = 'ceiling' AND x.used_micros + q.hold_min > x.max_micros THEN
        PERFORM alert_on_full_ceiling(q.svc_user_id, x);
      END IF;
      IF verdict = 'admitted' THEN
        SELECT v.budget_micros INTO hold_micros FROM reservations AS v WHERE v.request_id = q.request_id;
      ELSIF verdict IS NULL AND budget_verdict IS NOT NULL THEN
        verdict := budget_verdict;
        resets_at := CASE WHEN verdict = 'app_limit_exceeded' THEN
          CASE b.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END END;
      END IF;
      EXIT WHEN verdict IS NOT NULL;
      PERFORM FROM accounts AS v WHERE v.svc_user_id = q.svc_user_id FOR NO KEY UPDATE SKIP LOCKED;
      verdict := CASE WHEN NOT FOUND THEN 'busy' END;
      EXIT WHEN verdict IS NOT NULL;
      PERFORM roll_account_windows(q.svc_user_id, at);
    END LOOP;
    IF verdict IS NULL THEN
      RAISE EXCEPTION 'the account changes too often to decide' USING ERRCODE = 'lock_not_available';
    END IF;
    place := q.place;
    RETURN NEXT;
    verdict := NULL;
    resets_at := NULL;
    duplicate_of := NULL;
    duplicate_state := NULL;
    hold_micros := NULL;
    extra_reason := NULL;
  END LOOP;
END $$;

-- Generated from the migrated database: do not edit. One file per service, so that a review sees the schema.

CREATE SEQUENCE provider_tickets AS bigint START 1 INCREMENT 1;

CREATE OR REPLACE FUNCTION public.account_alerts_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  weekly bigint;
  monthly bigint;
BEGIN
  IF NEW.week_used_micros <= OLD.week_used_micros AND NEW.month_used_micros <= OLD.month_used_micros THEN RETURN NULL; END IF;
  SELECT p.weekly_limit_micros, p.monthly_limit_micros INTO weekly, monthly FROM plans AS p WHERE p.id = NEW.plan_id;
  PERFORM alert_on_use(NEW.svc_user_id, 'weekly_cap', '', NEW.week_start, OLD.week_used_micros, NEW.week_used_micros, weekly,
    NEW.week_end);
  PERFORM alert_on_use(NEW.svc_user_id, 'monthly_cap', '', NEW.month_start, OLD.month_used_micros, NEW.month_used_micros,
    monthly, NEW.month_end);
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.account_is_sound(anchor timestamp with time zone, "interval" text, period_start timestamp with time zone, period_end timestamp with time zone, week_used_micros bigint, month_used_micros bigint, pending integer)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    BEGIN
      RETURN date_trunc('milliseconds', anchor) = anchor
        AND "interval" IN ('month', 'year')
        AND period_end > period_start
        AND week_used_micros >= 0
        AND month_used_micros >= 0
        AND pending BETWEEN 0 AND 2;
    END $function$
;

CREATE OR REPLACE FUNCTION public.admit_delegated(p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint, p_idempotency_key text, p_past_due_grace interval, OUT verdict text, OUT resets_at timestamp with time zone, OUT duplicate_of text, OUT duplicate_state text)
 RETURNS record
 LANGUAGE sql
AS $function$
  SELECT a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state
    FROM admit_delegated_requests(ARRAY[p_request_id], ARRAY[p_svc_user_id], ARRAY[p_client_id], ARRAY[p_service],
      ARRAY[p_estimate_micros], ARRAY[p_idempotency_key], NULL, NULL, NULL, p_past_due_grace) AS a
$function$
;

CREATE OR REPLACE FUNCTION public.admit_delegated_many(p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[], p_idempotency_keys text[], p_past_due_grace interval)
 RETURNS TABLE(place bigint, verdict text, resets_at timestamp with time zone, duplicate_of text, duplicate_state text)
 LANGUAGE sql
AS $function$
  SELECT a.place, a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state
    FROM admit_delegated_requests(p_request_ids, p_svc_user_ids, p_client_ids, p_services, p_estimates, p_idempotency_keys,
      NULL, NULL, NULL, p_past_due_grace) AS a
$function$
;

CREATE OR REPLACE FUNCTION public.admit_delegated_requests(p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[], p_idempotency_keys text[], p_holder_ids text[], p_holds bigint[], p_hold_mins bigint[], p_past_due_grace interval)
 RETURNS TABLE(place bigint, verdict text, resets_at timestamp with time zone, duplicate_of text, duplicate_state text, hold_micros bigint)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET lock_timeout TO '1s'
AS $function$
DECLARE
  q record;
  at timestamptz;
  a record;
  b app_budgets%ROWTYPE;
  budget_verdict text;
  hold bigint;
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
      -- Gateways of the previous release tell no highest cost.
      hold := coalesce(q.hold, q.estimate);
      -- Once it has the lock, PostgreSQL checks the conditions again on the row as it is then. A refusal takes no lock.
      SELECT v.week_start, v.week_end, v.month_start, v.month_end, v.has_app_budgets INTO a
        FROM accounts AS v JOIN plans AS p ON p.id = v.plan_id
        WHERE v.svc_user_id = q.svc_user_id AND status_admits(v.status, v.past_due_since, p_past_due_grace, at)
          AND CASE q.service WHEN 'chat' THEN p.includes_chat ELSE p.includes_audio_transcription END
          AND at < v.week_end AND v.week_used_micros < p.weekly_limit_micros
          AND at < v.month_end AND v.month_used_micros < p.monthly_limit_micros
          AND v.pending < 2
        FOR NO KEY UPDATE OF v;
      IF FOUND AND a.has_app_budgets THEN
        -- No lock: a budget changes only under that of its account.
        SELECT * INTO b FROM app_budgets AS v WHERE v.svc_user_id = q.svc_user_id AND v.client_id = q.client_id;
        b := with_current_budget_window(b, a.week_start, a.month_start);
        budget_verdict := CASE WHEN b.is_paused THEN 'connection_paused'
          ELSE app_budget_verdict(b, coalesce(q.hold_min, hold), at) END;
        -- The clock was read before the lock was there, but the request comes after the limit.
        at := greatest(at, b.limited_since + interval '1 microsecond');
        hold := least(hold, b.limit_micros - b.used_micros - b.uncertain_micros - b.held_micros);
      END IF;
      IF a.week_start IS NOT NULL AND budget_verdict IS NULL THEN
        INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, idempotency_key_hash,
            estimate_micros, budget_micros, holder_id, week_start, month_start, created_at)
          VALUES (q.request_id, 'delegated', q.svc_user_id, q.client_id, q.service,
            sha256(convert_to(q.idempotency_key, 'UTF8')), q.estimate, hold, q.holder_id, a.week_start, a.month_start, at)
          ON CONFLICT DO NOTHING;
        IF FOUND THEN
          UPDATE accounts AS v SET pending = v.pending + 1 WHERE v.svc_user_id = q.svc_user_id;
          IF b.limit_micros IS NOT NULL THEN
            UPDATE app_budgets AS v SET window_start = b.window_start, used_micros = b.used_micros,
                held_micros = b.held_micros + hold, uncertain_micros = b.uncertain_micros
              WHERE v.svc_user_id = q.svc_user_id AND v.client_id = q.client_id;
          END IF;
          verdict := 'admitted';
          hold_micros := hold;
          EXIT;
        END IF;
      END IF;
      SELECT r.verdict, r.resets_at, r.duplicate_of, r.duplicate_state
        INTO verdict, resets_at, duplicate_of, duplicate_state
        FROM refuse_delegated(q.request_id, q.svc_user_id, q.client_id, q.service, q.idempotency_key,
          p_past_due_grace, at) AS r;
      IF verdict = 'admitted' THEN
        SELECT v.budget_micros INTO hold_micros FROM reservations AS v WHERE v.request_id = q.request_id;
      ELSIF verdict IS NULL AND budget_verdict IS NOT NULL THEN
        verdict := budget_verdict;
        resets_at := CASE WHEN verdict = 'app_limit_exceeded' THEN
          CASE b.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END END;
      END IF;
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
  END LOOP;
END $function$
;

CREATE OR REPLACE FUNCTION public.admit_for_key(p_svc_user_id text, p_key_id text, p_places bigint[], p_request_ids text[], p_holds bigint[], p_per_minute integer[], p_monthly_limits bigint[])
 RETURNS TABLE(place bigint, verdict text, resets_at timestamp with time zone, rate_remaining integer, rate_reset_ms integer)
 LANGUAGE plpgsql
AS $function$
    #variable_conflict use_variable
    DECLARE
      w wallets%ROWTYPE;
      k key_budgets%ROWTYPE;
      at timestamptz;
      month timestamptz;
      earlier text[] := '{}';
      free bigint;
      used int;
      verdicts text[];
      remaining int[];
      taken_ids text[];
      taken_holds bigint[];
      held bigint;
      inserted int := 0;
    BEGIN
      FOR look IN 1..2 LOOP
        IF look = 1 THEN
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id;
        ELSE
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id FOR NO KEY UPDATE;
          IF k.key_id IS NULL THEN
            INSERT INTO key_budgets (key_id, svc_user_id, minute_start, month_start)
              VALUES (p_key_id, p_svc_user_id, at, month) ON CONFLICT (key_id) DO NOTHING;
            SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id FOR NO KEY UPDATE;
          END IF;
          earlier := ARRAY(SELECT r.request_id FROM reservations AS r WHERE r.request_id = ANY (p_request_ids));
        END IF;
        at := billing_now();
        month := date_trunc('month', at, 'UTC');
        IF k.key_id IS NULL OR at >= k.minute_start + interval '60 seconds' THEN
          k.minute_start := at;
          k.minute_count := 0;
        END IF;
        IF k.key_id IS NULL OR month > k.month_start THEN
          k.month_start := month;
          k.month_used_micros := 0;
        END IF;
        free := w.balance_micros - w.held_micros;
        used := k.minute_count;
        verdicts := '{}';
        remaining := '{}';
        taken_ids := '{}';
        taken_holds := '{}';
        FOR n IN 1..cardinality(p_request_ids) LOOP
          verdict := CASE
            WHEN used >= p_per_minute[n] THEN 'rate_limit_exceeded'
            WHEN k.month_used_micros >= p_monthly_limits[n] THEN 'key_monthly_limit_exceeded'
            WHEN free IS NULL OR free < p_holds[n] THEN 'insufficient_balance'
            ELSE 'admitted'
          END;
          IF verdict = 'admitted' AND p_request_ids[n] <> ALL (earlier) AND p_request_ids[n] <> ALL (taken_ids) THEN
            free := free - p_holds[n];
            used := used + 1;
            taken_ids := taken_ids || p_request_ids[n];
            taken_holds := taken_holds || p_holds[n];
          END IF;
          verdicts := verdicts || verdict;
          remaining := remaining || greatest(p_per_minute[n] - used, 0);
        END LOOP;
        EXIT WHEN taken_ids = '{}';
      END LOOP;

      IF taken_ids <> '{}' THEN
        WITH new AS (
          INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, month_start, created_at)
            SELECT t.id, 'api_key', p_svc_user_id, p_key_id, t.hold, k.month_start, at
            FROM unnest(taken_ids, taken_holds) AS t (id, hold)
            ON CONFLICT DO NOTHING RETURNING estimate_micros)
        SELECT count(*), coalesce(sum(n.estimate_micros), 0) INTO inserted, held FROM new AS n;
        UPDATE wallets SET held_micros = held_micros + held WHERE svc_user_id = p_svc_user_id;
        UPDATE key_budgets SET minute_start = k.minute_start, minute_count = k.minute_count + inserted,
            month_start = k.month_start, month_used_micros = k.month_used_micros
          WHERE key_id = p_key_id;
      END IF;

      FOR n IN 1..cardinality(p_request_ids) LOOP
        place := p_places[n];
        verdict := verdicts[n];
        rate_remaining := remaining[n];
        rate_reset_ms := least(60000, ceil(extract(epoch FROM k.minute_start + interval '60 seconds' - at) * 1000));
        resets_at := CASE verdict WHEN 'key_monthly_limit_exceeded' THEN monthly_anniversary(k.month_start, 1)
          WHEN 'rate_limit_exceeded' THEN k.minute_start + interval '60 seconds' END;
        -- A request that was admitted earlier is not refused now, and an id that is in use is not admitted.
        IF verdict <> 'admitted' OR inserted < cardinality(p_request_ids) THEN
          verdict := coalesce(recall_keyed(p_request_ids[n], p_svc_user_id, p_key_id), verdict);
          IF verdict IN ('admitted', 'request_id_taken') THEN resets_at := NULL; END IF;
        END IF;
        RETURN NEXT;
      END LOOP;
    END $function$
;

CREATE OR REPLACE FUNCTION public.admit_key_requests(p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute integer[], p_monthly_limits bigint[], p_holder_ids text[], p_estimates bigint[], p_idempotency_keys text[], p_tokens_per_minute integer[], p_tokens bigint[], p_tokens_least bigint[])
 RETURNS TABLE(place bigint, verdict text, resets_at timestamp with time zone, rate_remaining integer, rate_reset_ms integer, tokens_remaining integer, duplicate_of text, duplicate_state text)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET lock_timeout TO '1s'
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION public.admit_keyed(p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute integer, p_monthly_limit bigint, OUT verdict text, OUT resets_at timestamp with time zone, OUT rate_remaining integer, OUT rate_reset_ms integer)
 RETURNS record
 LANGUAGE sql
AS $function$
  SELECT a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms
    FROM admit_key_requests(ARRAY[p_request_id], ARRAY[p_svc_user_id], ARRAY[p_key_id], ARRAY[p_hold_micros],
      ARRAY[p_per_minute], ARRAY[p_monthly_limit], NULL, NULL, NULL, NULL, NULL, NULL) AS a
$function$
;

CREATE OR REPLACE FUNCTION public.admit_keyed_many(p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute integer[], p_monthly_limits bigint[])
 RETURNS TABLE(place bigint, verdict text, resets_at timestamp with time zone, rate_remaining integer, rate_reset_ms integer)
 LANGUAGE sql
AS $function$
  SELECT a.place, a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms
    FROM admit_key_requests(p_request_ids, p_svc_user_ids, p_key_ids, p_holds, p_per_minute, p_monthly_limits,
      NULL, NULL, NULL, NULL, NULL, NULL) AS a
$function$
;

CREATE OR REPLACE FUNCTION public.admit_one_delegated(p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint, p_idempotency_key text, p_past_due_grace interval, OUT verdict text, OUT resets_at timestamp with time zone, OUT duplicate_of text, OUT duplicate_state text)
 RETURNS record
 LANGUAGE sql
AS $function$
  SELECT * FROM admit_delegated(p_request_id, p_svc_user_id, p_client_id, p_service, p_estimate_micros,
    p_idempotency_key, p_past_due_grace)
$function$
;

CREATE OR REPLACE FUNCTION public.admit_one_keyed(p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute integer, p_monthly_limit bigint, OUT verdict text, OUT resets_at timestamp with time zone, OUT rate_remaining integer, OUT rate_reset_ms integer)
 RETURNS record
 LANGUAGE sql
AS $function$
  SELECT * FROM admit_keyed(p_request_id, p_svc_user_id, p_key_id, p_hold_micros, p_per_minute, p_monthly_limit)
$function$
;

CREATE OR REPLACE FUNCTION public.alert_on_use(p_svc_user_id text, p_subject text, p_subject_id text, p_window_start timestamp with time zone, p_before bigint, p_after bigint, p_limit bigint, p_resets_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE percent int;
BEGIN
  IF coalesce(p_limit, 0) = 0 OR p_after * 100 / p_limit <= p_before * 100 / p_limit THEN RETURN; END IF;
  SELECT max(t) INTO percent FROM unnest((alert_settings_of(p_svc_user_id)).thresholds_percent) AS t
    WHERE t > p_before * 100 / p_limit AND t <= p_after * 100 / p_limit;
  IF percent IS NULL THEN RETURN; END IF;
  PERFORM publish_alert(p_svc_user_id, p_subject, p_subject_id,
    (extract(epoch FROM p_window_start) * 1000000)::bigint, percent, p_after, p_limit, p_resets_at);
END $function$
;

CREATE OR REPLACE FUNCTION public.alert_settings_of(p_svc_user_id text)
 RETURNS alert_settings
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE settings alert_settings%ROWTYPE;
BEGIN
  SELECT * INTO settings FROM alert_settings AS s WHERE s.svc_user_id = p_svc_user_id;
  IF NOT FOUND THEN settings := (p_svc_user_id, ARRAY[50, 80, 100], 2000000); END IF;
  RETURN settings;
END $function$
;

CREATE OR REPLACE FUNCTION public.anniversary_window(p_anchor timestamp with time zone, p_at timestamp with time zone, OUT starts_at timestamp with time zone, OUT ends_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    DECLARE
      anchor timestamp := p_anchor AT TIME ZONE 'UTC';
      at timestamp := p_at AT TIME ZONE 'UTC';
      months int := (extract(year FROM at) - extract(year FROM anchor)) * 12 + extract(month FROM at) - extract(month FROM anchor);
    BEGIN
      IF monthly_anniversary(p_anchor, months) > p_at THEN months := months - 1; END IF;
      starts_at := monthly_anniversary(p_anchor, months);
      ends_at := monthly_anniversary(p_anchor, months + 1);
    END $function$
;

CREATE OR REPLACE FUNCTION public.app_budget_alerts_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- A new window starts with its own use.
  IF NEW.window_start = OLD.window_start THEN
    PERFORM alert_on_use(NEW.svc_user_id, 'app_budget', NEW.client_id, NEW.window_start,
      OLD.used_micros + OLD.uncertain_micros, NEW.used_micros + NEW.uncertain_micros, NEW.limit_micros,
      (SELECT CASE NEW.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END
        FROM accounts AS a WHERE a.svc_user_id = NEW.svc_user_id));
  END IF;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.app_budget_verdict(b app_budgets, p_hold bigint, p_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE
    WHEN p_at >= b.expires_at THEN 'app_budget_expired'
    WHEN b.used_micros + b.uncertain_micros + p_hold > b.limit_micros THEN 'app_limit_exceeded'
    WHEN b.used_micros + b.uncertain_micros + b.held_micros + p_hold > b.limit_micros THEN 'app_requests_pending'
  END
$function$
;

CREATE OR REPLACE FUNCTION public.app_window_use(p_svc_user_id text, p_client_id text, p_period text, p_starts_at timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(sum(CASE
      WHEN d.day > w.first_day THEN d.cost_micros
      WHEN p_period = 'week' THEN d.week_first_micros
      ELSE d.month_first_micros
    END), 0)::bigint
  FROM (SELECT (p_starts_at AT TIME ZONE 'UTC')::date AS first_day) AS w
    JOIN usage_days AS d ON d.svc_user_id = p_svc_user_id AND d.client_id = p_client_id AND d.day >= w.first_day
$function$
;

CREATE OR REPLACE FUNCTION public.billing_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
AS $function$ SELECT clock_timestamp() $function$
;

CREATE OR REPLACE FUNCTION public.book_app_budget(r reservations, p_state text, p_cost bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  hold bigint := coalesce(r.budget_micros, r.estimate_micros);
  before bigint := CASE r.state WHEN 'settled' THEN hold ELSE 0 END;
  settled bigint := CASE p_state WHEN 'settled' THEN least(r.budget_micros, p_cost) ELSE 0 END - before;
BEGIN
  UPDATE app_budgets AS b SET
      used_micros = b.used_micros + CASE WHEN w.is_current THEN settled ELSE 0 END,
      held_micros = b.held_micros - CASE WHEN w.is_current AND r.state = 'reserved' THEN hold ELSE 0 END,
      uncertain_micros = b.uncertain_micros + CASE WHEN w.is_current THEN
        CASE p_state WHEN 'uncertain' THEN hold ELSE 0 END - CASE r.state WHEN 'uncertain' THEN hold ELSE 0 END ELSE 0 END,
      total_used_micros = b.total_used_micros + CASE WHEN r.created_at > b.limited_since THEN settled ELSE 0 END
    FROM (
      SELECT v.client_id, CASE v.period WHEN 'week' THEN v.window_start = r.week_start
        WHEN 'month' THEN v.window_start = r.month_start ELSE r.created_at > v.limited_since END AS is_current
      FROM app_budgets AS v WHERE v.svc_user_id = r.svc_user_id AND v.client_id = r.client_id AND v.limit_micros IS NOT NULL
    ) AS w
    WHERE b.svc_user_id = r.svc_user_id AND b.client_id = w.client_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.current_epoch()
 RETURNS uuid
 LANGUAGE sql
 STABLE
AS $function$SELECT epoch FROM epochs ORDER BY epoch DESC LIMIT 1$function$
;

CREATE OR REPLACE FUNCTION public.entitle_account(p_svc_user_id text, p_status text, p_plan_id text, p_past_due_since timestamp with time zone, p_anchor timestamp with time zone, p_interval text, p_period_start timestamp with time zone, p_period_end timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  at timestamptz := billing_now();
  anchor_before timestamptz;
  week record;
  month record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('app_budgets ' || p_svc_user_id, 0));
  SELECT * INTO week FROM weekly_window(p_anchor, at);
  SELECT * INTO month FROM monthly_window(p_anchor, p_interval, p_period_start, p_period_end, at);
  SELECT a.anchor INTO anchor_before FROM accounts AS a WHERE a.svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  INSERT INTO accounts AS a (svc_user_id, status, plan_id, past_due_since, anchor, interval, period_start, period_end,
      week_start, week_end, month_start, month_end, has_app_budgets)
    VALUES (p_svc_user_id, p_status, p_plan_id, p_past_due_since, p_anchor, p_interval, p_period_start, p_period_end,
      week.starts_at, week.ends_at, month.starts_at, month.ends_at,
      EXISTS (SELECT FROM app_budgets AS b WHERE b.svc_user_id = p_svc_user_id))
    ON CONFLICT (svc_user_id) DO UPDATE SET
      status = p_status, plan_id = p_plan_id, past_due_since = p_past_due_since,
      anchor = p_anchor, interval = p_interval, period_start = p_period_start, period_end = p_period_end,
      week_start = CASE WHEN a.anchor = p_anchor THEN a.week_start ELSE week.starts_at END,
      week_end = CASE WHEN a.anchor = p_anchor THEN a.week_end ELSE week.ends_at END,
      week_used_micros = CASE WHEN a.anchor = p_anchor THEN a.week_used_micros ELSE 0 END,
      month_start = CASE WHEN a.anchor = p_anchor THEN greatest(a.month_start, month.starts_at) ELSE month.starts_at END,
      month_end = CASE WHEN a.anchor = p_anchor AND a.month_start > month.starts_at THEN a.month_end ELSE month.ends_at END,
      month_used_micros = CASE WHEN a.anchor = p_anchor AND a.month_start >= month.starts_at THEN a.month_used_micros ELSE 0 END;
  -- The first day of the new windows may be that of earlier ones, whose use they do not take over.
  IF anchor_before <> p_anchor THEN
    UPDATE usage_days AS d SET week_first_micros = 0
      WHERE d.svc_user_id = p_svc_user_id AND d.day = (week.starts_at AT TIME ZONE 'UTC')::date AND d.week_first_micros <> 0;
    UPDATE usage_days AS d SET month_first_micros = 0
      WHERE d.svc_user_id = p_svc_user_id AND d.day = (month.starts_at AT TIME ZONE 'UTC')::date AND d.month_first_micros <> 0;
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.extra_key_micros(r reservations, p_changes key_use_change[])
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  available bigint;
  left_of_month bigint;
BEGIN
  SELECT w.balance_micros - w.held_micros INTO available FROM wallets AS w WHERE w.svc_user_id = r.svc_user_id;
  available := available + coalesce((SELECT sum(c.freed - c.paid) FROM unnest(p_changes) AS c
    WHERE c.svc_user_id = r.svc_user_id), 0);
  SELECT k.month_limit_micros - k.month_used_micros - key_held_micros(r.key_id, r.month_start)
      - coalesce((SELECT sum(c.counted - c.unreserved) FROM unnest(p_changes) AS c
          WHERE c.key_id = r.key_id AND c.month_start = r.month_start), 0)
    INTO left_of_month FROM key_budgets AS k WHERE k.key_id = r.key_id AND k.month_start = r.month_start;
  -- Without a limit, the month leaves everything.
  RETURN greatest(least(available, left_of_month), 0);
END $function$
;

CREATE OR REPLACE FUNCTION public.give_up_requests(p_request_ids text[])
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
    DECLARE at timestamptz := billing_now();
    BEGIN
      INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
        SELECT DISTINCT id, 'given_up', '', 'released', 0, date_trunc('month', at, 'UTC'), at, at FROM unnest(p_request_ids) AS id
        ORDER BY id ON CONFLICT DO NOTHING;
      RETURN QUERY SELECT r.request_id FROM reservations AS r WHERE r.request_id = ANY (p_request_ids) AND r.kind <> 'given_up';
    END $function$
;

CREATE OR REPLACE FUNCTION public.key_alerts_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.month_used_micros > OLD.month_used_micros AND NEW.month_limit_micros IS NOT NULL THEN
    PERFORM alert_on_use(NEW.svc_user_id, 'api_key', NEW.key_id, NEW.month_start, OLD.month_used_micros,
      NEW.month_used_micros, NEW.month_limit_micros, monthly_anniversary(NEW.month_start, 1));
  END IF;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.key_held_micros(p_key_id text, p_month_start timestamp with time zone)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(sum(estimate_micros), 0)::bigint FROM reservations
    WHERE key_id = p_key_id AND month_start = p_month_start AND ended_at IS NULL AND state <> 'uncertain'
$function$
;

CREATE OR REPLACE FUNCTION public.ledger_assert_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
    DECLARE fault record;
    BEGIN
      SELECT a.posting_id AS posting, sum(a.amount_micros) AS total, bool_and(p.id IS NOT NULL) AS is_posted INTO fault
        FROM added AS a LEFT JOIN ledger_postings AS p ON p.id = a.posting_id
        GROUP BY a.posting_id HAVING sum(a.amount_micros) <> 0 OR bool_or(p.id IS NULL OR a.book = 'wallet_held') LIMIT 1;
      IF FOUND AND NOT fault.is_posted THEN
        RAISE EXCEPTION 'there is no ledger posting %', fault.posting USING ERRCODE = 'foreign_key_violation';
      ELSIF FOUND AND fault.total = 0 THEN
        RAISE EXCEPTION 'ledger posting % is of a hold, which is no posting any more: call again', fault.posting
          USING ERRCODE = 'lock_not_available';
      ELSIF FOUND THEN
        RAISE EXCEPTION 'entries for ledger posting % sum to %, not to 0', fault.posting, fault.total
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $function$
;

CREATE OR REPLACE FUNCTION public.ledger_assert_postings()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
    DECLARE posting bigint;
    BEGIN
      SELECT a.id INTO posting FROM added AS a
        WHERE NOT EXISTS (SELECT FROM ledger_entries AS e WHERE e.posting_id = a.id) LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION 'ledger posting % has no entries', posting USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $function$
;

CREATE OR REPLACE FUNCTION public.ledger_post(p_kind text, p_reference text, p_svc_user_id text, p_currency text, p_books text[], p_amounts bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF 0 = ALL (p_amounts) THEN RETURN; END IF;
      -- A posting and its entries are one statement.
      WITH posting AS (
        INSERT INTO ledger_postings (kind, reference, svc_user_id, currency, posted_at)
          VALUES (p_kind, p_reference, p_svc_user_id, p_currency, billing_now()) RETURNING id)
      INSERT INTO ledger_entries (posting_id, book, amount_micros)
        SELECT posting.id, entry.book, entry.amount
        FROM posting, unnest(p_books, p_amounts) AS entry (book, amount) WHERE entry.amount <> 0;
    END $function$
;

CREATE OR REPLACE FUNCTION public.ledger_post_many(p_kinds text[], p_references text[], p_svc_user_ids text[], p_currency text, p_books text[], p_amounts bigint[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    BEGIN
      WITH posting AS MATERIALIZED (
        SELECT nextval('ledger_postings_id_seq') AS id, t.*
        FROM unnest(p_kinds, p_references, p_svc_user_ids) WITH ORDINALITY AS t (kind, reference, svc_user_id, place)
      ), written AS (
        INSERT INTO ledger_postings (id, kind, reference, svc_user_id, currency, posted_at)
        OVERRIDING SYSTEM VALUE
        SELECT id, kind, reference, svc_user_id, p_currency, billing_now() FROM posting
      )
      INSERT INTO ledger_entries (posting_id, book, amount_micros)
        SELECT posting.id, p_books[n], p_amounts[posting.place][n]
        FROM posting, generate_series(1, cardinality(p_books)) AS n
        WHERE p_amounts[posting.place][n] <> 0;
    END $function$
;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END $function$
;

CREATE OR REPLACE FUNCTION public.list_app_standings(p_svc_user_id text, p_client_ids text[])
 RETURNS TABLE(client_id text, is_paused boolean, limit_micros bigint, period text, expires_at timestamp with time zone, used_micros bigint, held_micros bigint, resets_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  a accounts%ROWTYPE;
BEGIN
  SELECT * INTO a FROM accounts AS v WHERE v.svc_user_id = p_svc_user_id;
  a := with_current_windows(a, billing_now());
  RETURN QUERY
    SELECT asked.client_id, coalesce(w.is_paused, false), w.limit_micros, w.period, w.expires_at,
      CASE WHEN w.limit_micros IS NULL THEN app_window_use(p_svc_user_id, asked.client_id, 'week', a.week_start)
        ELSE w.used_micros END,
      CASE WHEN w.limit_micros IS NULL THEN 0 ELSE w.held_micros + w.uncertain_micros END,
      CASE w.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END
    FROM (
      SELECT unnest(p_client_ids) AS client_id
      UNION ALL
      SELECT v.client_id FROM app_budgets AS v WHERE p_client_ids IS NULL AND v.svc_user_id = p_svc_user_id
    ) AS asked
    LEFT JOIN app_budgets AS b ON b.svc_user_id = p_svc_user_id AND b.client_id = asked.client_id
    CROSS JOIN LATERAL with_current_budget_window(b, a.week_start, a.month_start) AS w
    ORDER BY asked.client_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.lock_wallets(p_svc_user_ids text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (p_svc_user_ids) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
END $function$
;

CREATE OR REPLACE FUNCTION public.monthly_anniversary(p_anchor timestamp with time zone, p_months integer)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      SELECT (p_anchor AT TIME ZONE 'UTC' + make_interval(months => p_months)) AT TIME ZONE 'UTC'
    $function$
;

CREATE OR REPLACE FUNCTION public.monthly_window(p_anchor timestamp with time zone, p_interval text, p_period_start timestamp with time zone, p_period_end timestamp with time zone, p_at timestamp with time zone, OUT starts_at timestamp with time zone, OUT ends_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    BEGIN
      IF p_interval = 'month' AND p_at >= p_period_start AND p_at < p_period_end THEN
        starts_at := p_period_start;
        ends_at := p_period_end;
      ELSE
        SELECT w.starts_at, w.ends_at INTO starts_at, ends_at FROM anniversary_window(p_anchor, p_at) AS w;
      END IF;
    END $function$
;

CREATE OR REPLACE FUNCTION public.publish_alert(p_svc_user_id text, p_subject text, p_subject_id text, p_window bigint, p_percent integer, p_amount bigint, p_limit bigint, p_resets_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO raised_alerts AS r (svc_user_id, subject, subject_id, window_id, percent)
    VALUES (p_svc_user_id, p_subject, p_subject_id, p_window, coalesce(p_percent, 0))
    ON CONFLICT (svc_user_id, subject, subject_id) DO UPDATE SET window_id = excluded.window_id, percent = excluded.percent
      WHERE (excluded.window_id, excluded.percent) > (r.window_id, r.percent);
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO outbox (id, aggregate, version, stream, subject, payload)
    VALUES (uuidv7(),
      concat_ws(':', 'alert', p_svc_user_id, p_subject, nullif(p_subject_id, ''), p_window, p_percent), 1,
      'BILLING', 'billing.alert.raised.v1',
      jsonb_build_object('svc_user_id', p_svc_user_id, 'subject', p_subject,
        'client_id', CASE p_subject WHEN 'app_budget' THEN p_subject_id END,
        'key_id', CASE p_subject WHEN 'api_key' THEN p_subject_id END,
        'threshold_percent', p_percent, 'amount_micros', p_amount, 'limit_micros', p_limit,
        'resets_at', to_char(p_resets_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
END $function$
;

CREATE OR REPLACE FUNCTION public.recall_delegated(p_request_id text, p_svc_user_id text, p_client_id text, p_key_hash bytea, OUT verdict text, OUT duplicate_of text, OUT duplicate_state text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE r reservations%ROWTYPE;
    BEGIN
      SELECT * INTO r FROM reservations WHERE request_id = p_request_id;
      IF FOUND THEN
        verdict := CASE WHEN r.svc_user_id = p_svc_user_id AND r.client_id = p_client_id THEN 'admitted'
          ELSE 'request_id_taken' END;
      ELSIF p_key_hash IS NOT NULL THEN
        SELECT * INTO r FROM reservations
          WHERE svc_user_id = p_svc_user_id AND client_id = p_client_id AND idempotency_key_hash = p_key_hash;
        IF FOUND THEN
          verdict := 'duplicate_request';
          duplicate_of := r.request_id;
          duplicate_state := r.state;
        END IF;
      END IF;
    END $function$
;

CREATE OR REPLACE FUNCTION public.recall_key_request(p_request_id text, p_svc_user_id text, p_key_id text, p_idempotency_key_hash bytea, OUT verdict text, OUT duplicate_of text, OUT duplicate_state text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE r reservations%ROWTYPE;
BEGIN
  SELECT * INTO r FROM reservations AS v WHERE v.request_id = p_request_id;
  IF FOUND THEN
    verdict := CASE WHEN r.svc_user_id = p_svc_user_id AND r.key_id = p_key_id THEN 'admitted' ELSE 'request_id_taken' END;
  ELSIF p_idempotency_key_hash IS NOT NULL THEN
    SELECT * INTO r FROM reservations AS v
      WHERE v.key_id = p_key_id AND v.idempotency_key_hash = p_idempotency_key_hash;
    IF FOUND THEN
      verdict := 'duplicate_request';
      duplicate_of := r.request_id;
      duplicate_state := r.state;
    END IF;
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.recall_keyed(p_request_id text, p_svc_user_id text, p_key_id text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      SELECT CASE WHEN svc_user_id = p_svc_user_id AND key_id = p_key_id THEN 'admitted' ELSE 'request_id_taken' END
      FROM reservations WHERE request_id = p_request_id
    $function$
;

CREATE OR REPLACE FUNCTION public.refuse_delegated(p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_idempotency_key text, p_past_due_grace interval, p_at timestamp with time zone, OUT verdict text, OUT resets_at timestamp with time zone, OUT duplicate_of text, OUT duplicate_state text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  a accounts%ROWTYPE;
  plan plans%ROWTYPE;
BEGIN
  SELECT k.verdict, k.duplicate_of, k.duplicate_state INTO verdict, duplicate_of, duplicate_state
    FROM recall_delegated(p_request_id, p_svc_user_id, p_client_id, sha256(convert_to(p_idempotency_key, 'UTF8'))) AS k;
  IF verdict IS NOT NULL THEN RETURN; END IF;
  SELECT * INTO a FROM accounts WHERE svc_user_id = p_svc_user_id;
  SELECT * INTO plan FROM plans WHERE id = a.plan_id;
  a := with_current_windows(a, p_at);
  verdict := CASE
    WHEN plan.id IS NULL OR NOT status_admits(a.status, a.past_due_since, p_past_due_grace, p_at)
      THEN 'subscription_inactive'
    WHEN NOT CASE p_service WHEN 'chat' THEN plan.includes_chat ELSE plan.includes_audio_transcription END
      THEN 'subscription_service_not_included'
    WHEN a.has_app_budgets AND EXISTS (SELECT FROM app_budgets AS b
        WHERE b.svc_user_id = p_svc_user_id AND b.client_id = p_client_id AND b.is_paused)
      THEN 'connection_paused'
    WHEN a.week_used_micros >= plan.weekly_limit_micros THEN 'weekly_limit_exceeded'
    WHEN a.month_used_micros >= plan.monthly_limit_micros THEN 'monthly_limit_exceeded'
    WHEN a.pending >= 2 THEN 'subscription_requests_pending'
  END;
  resets_at := CASE verdict WHEN 'weekly_limit_exceeded' THEN a.week_end
    WHEN 'monthly_limit_exceeded' THEN a.month_end END;
END $function$
;

CREATE OR REPLACE FUNCTION public.reservation_is_sound(kind text, client_id text, key_id text, service text, week_start timestamp with time zone, state text, estimate_micros bigint, cost_micros bigint, settled_by text, ended_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    BEGIN
      RETURN kind IN ('delegated', 'api_key', 'given_up')
        AND (client_id IS NOT NULL) = (kind = 'delegated')
        AND (service IS NOT NULL) = (kind = 'delegated')
        AND (week_start IS NOT NULL) = (kind = 'delegated')
        AND (key_id IS NOT NULL) = (kind = 'api_key')
        AND state IN ('reserved', 'uncertain', 'settled', 'released')
        AND (state IN ('settled', 'released')) = (ended_at IS NOT NULL)
        AND (state = 'settled') = (cost_micros IS NOT NULL)
        AND (state = 'settled') = (settled_by IS NOT NULL)
        AND coalesce(settled_by IN ('usage', 'estimate'), true)
        AND coalesce(cost_micros >= 0, true)
        AND estimate_micros >= 0;
    END $function$
;

CREATE OR REPLACE FUNCTION public.roll_account_windows(p_svc_user_id text, p_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE a accounts%ROWTYPE;
BEGIN
  SELECT * INTO a FROM accounts
    WHERE svc_user_id = p_svc_user_id AND (p_at >= week_end OR p_at >= month_end) FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  a := with_current_windows(a, p_at);
  UPDATE accounts SET week_start = a.week_start, week_end = a.week_end, week_used_micros = a.week_used_micros,
      month_start = a.month_start, month_end = a.month_end, month_used_micros = a.month_used_micros
    WHERE svc_user_id = p_svc_user_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.set_app_budget(p_svc_user_id text, p_client_id text, p_sets_limit boolean, p_limit bigint, p_period text, p_expires_at timestamp with time zone, p_paused boolean)
 RETURNS void
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
DECLARE
  at timestamptz;
  a accounts%ROWTYPE;
  b app_budgets%ROWTYPE;
  period_before text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('app_budgets ' || p_svc_user_id, 0));
  SELECT * INTO a FROM accounts AS v WHERE v.svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  at := billing_now();
  a := with_current_windows(a, at);
  DELETE FROM app_budgets AS v WHERE v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id RETURNING * INTO b;
  period_before := b.period;
  b.svc_user_id := p_svc_user_id;
  b.client_id := p_client_id;
  b.is_paused := coalesce(p_paused, b.is_paused, false);
  IF p_sets_limit THEN
    b.limit_micros := p_limit;
    b.period := p_period;
    b.expires_at := p_expires_at;
    b.limited_since := CASE WHEN p_limit IS NOT NULL THEN coalesce(b.limited_since, at) END;
  END IF;
  IF b.limit_micros IS NULL THEN
    b.window_start := '-infinity';
    b.used_micros := 0;
    b.held_micros := 0;
    b.uncertain_micros := 0;
    b.total_used_micros := 0;
  ELSIF b.period IS DISTINCT FROM period_before THEN
    b.total_used_micros := CASE WHEN period_before IS NULL THEN 0 ELSE b.total_used_micros END;
    b.window_start := coalesce(CASE b.period WHEN 'week' THEN a.week_start WHEN 'month' THEN a.month_start
      ELSE b.limited_since END, '-infinity');
    b.used_micros := CASE b.period WHEN 'week' THEN app_window_use(p_svc_user_id, p_client_id, 'week', a.week_start)
      WHEN 'month' THEN app_window_use(p_svc_user_id, p_client_id, 'month', a.month_start)
      ELSE b.total_used_micros END;
    SELECT coalesce(sum(r.hold) FILTER (WHERE r.state = 'reserved'), 0),
        coalesce(sum(r.hold) FILTER (WHERE r.state = 'uncertain'), 0)
      INTO b.held_micros, b.uncertain_micros
      FROM (
        SELECT v.*, coalesce(v.budget_micros, v.estimate_micros) AS hold FROM reservations AS v
          WHERE v.state = 'reserved' AND v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id
        UNION ALL
        SELECT v.*, coalesce(v.budget_micros, v.estimate_micros) FROM reservations AS v
          WHERE v.state = 'uncertain' AND v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id
      ) AS r
      WHERE CASE b.period WHEN 'week' THEN r.week_start = b.window_start WHEN 'month' THEN r.month_start = b.window_start
        ELSE r.created_at > b.limited_since END;
  END IF;
  IF b.limit_micros IS NOT NULL OR b.is_paused THEN
    INSERT INTO app_budgets SELECT b.*;
  END IF;
  UPDATE accounts AS v SET has_app_budgets = EXISTS (SELECT FROM app_budgets AS o WHERE o.svc_user_id = p_svc_user_id)
    WHERE v.svc_user_id = p_svc_user_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.settle_delegated_requests(p_places bigint[], p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
 RETURNS TABLE(place bigint, request_id text, state text, effect text)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  q record;
  r reservations%ROWTYPE;
  step record;
  is_changed boolean := false;
  -- What this call has changed, and not written yet.
  changed reservations[] := '{}';
  change plan_use_change;
  changes plan_use_change[] := '{}';
BEGIN
  PERFORM FROM accounts AS a
    WHERE a.svc_user_id IN (SELECT v.svc_user_id FROM reservations AS v
      WHERE v.request_id = ANY (p_request_ids) AND v.kind = 'delegated'
        AND (v.state IN ('reserved', 'uncertain') OR v.settled_by = 'estimate'))
    ORDER BY a.svc_user_id FOR NO KEY UPDATE;
  FOR q IN
    SELECT t.place, t.request_id, t.outcome, t.cost, v AS reservation, a.has_app_budgets
      FROM unnest(p_places, p_request_ids, p_outcomes, p_costs) AS t (place, request_id, outcome, cost)
      JOIN reservations AS v ON v.request_id = t.request_id JOIN accounts AS a ON a.svc_user_id = v.svc_user_id
      WHERE v.kind = 'delegated' ORDER BY v.svc_user_id, t.request_id, t.place
  LOOP
    IF r.request_id IS DISTINCT FROM q.request_id THEN
      IF is_changed THEN changed := changed || r; END IF;
      is_changed := false;
      r := q.reservation;
    END IF;
    step := settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, q.outcome, q.cost);
    place := q.place;
    request_id := r.request_id;
    state := step.state;
    effect := step.effect;
    IF step.effect NOT IN ('none', 'conflict') THEN
      IF q.has_app_budgets THEN PERFORM book_app_budget(r, step.state, step.cost); END IF;
      change := (r.svc_user_id, r.week_start, r.month_start, (r.state = 'reserved')::int,
        -- Against the caps counts the cost, or the estimate while the outcome is uncertain.
        CASE step.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(step.cost, 0) END
          - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(r.cost_micros, 0) END,
        CASE r.state WHEN 'settled' THEN 'usage_adjustment' ELSE 'usage' END, r.request_id,
        coalesce(step.cost, 0) - coalesce(r.cost_micros, 0));
      changes := changes || change;
      r.budget_micros := CASE step.state WHEN 'settled' THEN least(r.budget_micros, step.cost) ELSE r.budget_micros END;
      r.state := step.state;
      r.settled_by := step.settled_by;
      r.cost_micros := step.cost;
      r.uncertain_at := CASE step.effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END;
      r.ended_at := CASE WHEN step.effect IN ('settled', 'released') THEN at ELSE r.ended_at END;
      r.adjusted_at := CASE step.effect WHEN 'adjusted' THEN at ELSE r.adjusted_at END;
      is_changed := true;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF is_changed THEN changed := changed || r; END IF;
  IF cardinality(changes) > 0 THEN
    PERFORM write_reservations(changed);
    PERFORM write_delegated_use(changes, p_currency);
    PERFORM write_usage_days(changes);
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.settle_key_requests(p_places bigint[], p_request_ids text[], p_outcomes text[], p_costs bigint[], p_tokens bigint[], p_currency text)
 RETURNS TABLE(place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  q record;
  r reservations%ROWTYPE;
  step record;
  is_changed boolean := false;
  is_end boolean;
  freed bigint;
  cost bigint;
  cost_before bigint;
  paid bigint;
  paid_before bigint;
  covered bigint;
  -- What this call has changed, and not written yet.
  changed reservations[] := '{}';
  change key_use_change;
  changes key_use_change[] := '{}';
BEGIN
  PERFORM FROM reservations AS v
    WHERE v.request_id = ANY (p_request_ids) AND v.kind = 'api_key'
      AND (v.state IN ('reserved', 'uncertain') OR v.settled_by = 'estimate')
    ORDER BY v.request_id FOR NO KEY UPDATE;
  -- What a request may cost beyond its hold depends on its wallet. All others leave the wallet free until the end, so that
  -- it pays for new requests meanwhile.
  IF EXISTS (SELECT FROM unnest(p_request_ids, p_costs) AS t (request_id, cost)
      JOIN reservations AS v ON v.request_id = t.request_id
      WHERE v.kind = 'api_key' AND (t.cost > v.estimate_micros OR v.settled_by = 'estimate')) THEN
    PERFORM lock_wallets(ARRAY(SELECT v.svc_user_id FROM reservations AS v
      WHERE v.request_id = ANY (p_request_ids) AND v.kind = 'api_key'));
  END IF;
  FOR q IN
    SELECT t.place, t.request_id, t.outcome, t.cost, t.tokens, v AS reservation
      FROM unnest(p_places, p_request_ids, p_outcomes, p_costs, p_tokens) AS t (place, request_id, outcome, cost, tokens)
      JOIN reservations AS v ON v.request_id = t.request_id
      WHERE v.kind = 'api_key' ORDER BY v.svc_user_id, v.key_id, t.request_id, t.place
  LOOP
    IF r.request_id IS DISTINCT FROM q.request_id THEN
      IF is_changed THEN changed := changed || r; END IF;
      is_changed := false;
      r := q.reservation;
    END IF;
    step := settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, q.outcome, q.cost);
    place := q.place;
    request_id := r.request_id;
    state := step.state;
    effect := step.effect;
    over_hold_micros := 0;
    written_off_micros := 0;
    IF step.effect NOT IN ('none', 'conflict') THEN
      is_end := step.state IN ('settled', 'released') AND r.state IN ('reserved', 'uncertain');
      freed := CASE WHEN is_end THEN r.estimate_micros ELSE 0 END;
      cost := coalesce(step.cost, 0);
      cost_before := coalesce(r.cost_micros, 0);
      paid_before := cost_before - r.written_off_micros;
      -- Already counted in the wallet's holds or payments, and in the key's month.
      covered := freed + paid_before;
      paid := CASE WHEN cost > covered THEN least(cost, covered + extra_key_micros(r, changes)) ELSE cost END;
      change := (r.svc_user_id, r.key_id, r.month_start, r.minute_start,
        CASE r.state WHEN 'reserved' THEN r.estimate_micros ELSE 0 END, freed, paid - paid_before,
        -- Uncertain requests count at their estimate, as settled ones do at what was paid.
        CASE step.state WHEN 'uncertain' THEN r.estimate_micros ELSE paid END
          - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE paid_before END,
        CASE WHEN is_end THEN CASE step.state WHEN 'released' THEN 0 ELSE q.tokens END - r.tokens END,
        CASE r.state WHEN 'settled' THEN 'adjustment' ELSE 'settlement' END, r.request_id,
        cost - cost_before, r.written_off_micros - (cost - paid));
      changes := changes || change;
      over_hold_micros := greatest(cost - r.estimate_micros, 0);
      written_off_micros := greatest(cost - paid - r.written_off_micros, 0);
      r.written_off_micros := cost - paid;
      r.state := step.state;
      r.settled_by := step.settled_by;
      r.cost_micros := step.cost;
      r.uncertain_at := CASE step.effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END;
      r.ended_at := CASE WHEN step.effect IN ('settled', 'released') THEN at ELSE r.ended_at END;
      r.adjusted_at := CASE step.effect WHEN 'adjusted' THEN at ELSE r.adjusted_at END;
      is_changed := true;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF is_changed THEN changed := changed || r; END IF;
  IF cardinality(changes) > 0 THEN
    PERFORM write_reservations(changed);
    PERFORM write_key_use(changes, p_currency);
    PERFORM write_wallet_usage_days(changes);
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.settle_many(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
 RETURNS TABLE(request_id text, state text, effect text, over_hold_micros bigint)
 LANGUAGE sql
AS $function$
  SELECT s.request_id, s.state, s.effect, s.over_hold_micros
    FROM settle_requests(p_request_ids, p_outcomes, p_costs, p_currency, NULL) AS s ORDER BY s.place
$function$
;

CREATE OR REPLACE FUNCTION public.settle_one(p_request_id text, p_outcome text, p_cost bigint, p_currency text, OUT request_id text, OUT state text, OUT effect text, OUT over_hold_micros bigint)
 RETURNS record
 LANGUAGE sql
AS $function$
  SELECT * FROM settle_many(ARRAY[p_request_id], ARRAY[p_outcome], ARRAY[p_cost], p_currency)
$function$
;

CREATE OR REPLACE FUNCTION public.settle_requests(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text, p_tokens bigint[])
 RETURNS TABLE(place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET lock_timeout TO '1s'
AS $function$
#variable_conflict use_column
DECLARE
  given_up text[];
  kinds record;
BEGIN
  IF 'released' = ANY (p_outcomes) THEN
    WITH tombstones AS (
      INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
        SELECT t.request_id, 'given_up', '', 'released', 0, date_trunc('month', billing_now(), 'UTC'), billing_now(),
            billing_now()
          FROM unnest(p_request_ids, p_outcomes) AS t (request_id, outcome)
          WHERE t.outcome = 'released' AND NOT EXISTS (SELECT FROM reservations AS r WHERE r.request_id = t.request_id)
          ORDER BY t.request_id
        ON CONFLICT DO NOTHING RETURNING request_id)
    SELECT array_agg(request_id) INTO given_up FROM tombstones;
  END IF;

  SELECT array_agg(t.place ORDER BY t.place) AS places, bool_or(r.kind = 'api_key') AS has_keyed, bool_or(r.kind = 'delegated') AS has_delegated,
      array_agg(t.place) FILTER (WHERE coalesce(r.kind, 'given_up') = 'given_up') AS others
    INTO kinds
    FROM unnest(p_request_ids) WITH ORDINALITY AS t (request_id, place)
    LEFT JOIN reservations AS r ON r.request_id = t.request_id;
  IF kinds.has_keyed THEN
    RETURN QUERY SELECT k.place, k.request_id, k.state, k.effect, k.over_hold_micros, k.written_off_micros
      FROM settle_key_requests(kinds.places, p_request_ids, p_outcomes, p_costs, p_tokens, p_currency) AS k;
  END IF;
  IF kinds.has_delegated THEN
    RETURN QUERY SELECT d.place, d.request_id, d.state, d.effect, 0::bigint, 0::bigint
      FROM settle_delegated_requests(kinds.places, p_request_ids, p_outcomes, p_costs, p_currency) AS d;
  END IF;
  IF kinds.others IS NOT NULL THEN
    -- For the first outcome of a request that this call has given up, there was no request.
    RETURN QUERY SELECT t.place, t.request_id, r.state,
        CASE WHEN r.state IS NOT NULL THEN (settlement_step(r.state, NULL, NULL, 0, t.outcome, t.cost)).effect
          WHEN t.outcome = 'settled' THEN 'unknown' ELSE 'ignored' END, 0::bigint, 0::bigint
      FROM (SELECT u.*, row_number() OVER (PARTITION BY u.request_id ORDER BY u.place) AS turn
          FROM unnest(p_request_ids, p_outcomes, p_costs) WITH ORDINALITY AS u (request_id, outcome, cost, place)) AS t
      LEFT JOIN reservations AS r ON r.request_id = t.request_id AND r.kind = 'given_up'
        AND NOT (t.turn = 1 AND t.request_id = ANY (coalesce(given_up, '{}')))
      WHERE t.place = ANY (kinds.others);
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.settle_together(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
 RETURNS TABLE(request_id text, state text, effect text, over_hold_micros bigint)
 LANGUAGE sql
AS $function$
  SELECT * FROM settle_many(p_request_ids, p_outcomes, p_costs, p_currency)
$function$
;

CREATE OR REPLACE FUNCTION public.settle_turn(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_seen boolean[], p_turn integer, p_currency text)
 RETURNS TABLE(place bigint, request_id text, state text, effect text, over_hold_micros bigint)
 LANGUAGE plpgsql
AS $function$
    #variable_conflict use_column
    DECLARE
      at timestamptz := billing_now();
      done record;
    BEGIN
      WITH named AS (
        SELECT t.*, row_number() OVER (PARTITION BY t.request_id ORDER BY t.place) AS turn
        FROM unnest(p_request_ids, p_outcomes, p_costs, p_seen) WITH ORDINALITY AS t (request_id, outcome, cost, is_seen, place)
      ), decided AS MATERIALIZED (
        SELECT n.place, n.request_id AS named_id, r.*,
          settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, n.outcome, n.cost) AS step
        FROM named AS n LEFT JOIN reservations AS r ON r.request_id = n.request_id AND n.is_seen
        WHERE n.turn = p_turn
      ), change AS MATERIALIZED (
        -- counted: change of what counts against limits, which is cost, or the estimate while uncertain. booked: change of what
        -- is booked as cost. freed: what is no longer held.
        SELECT d.*,
          CASE (step).state WHEN 'uncertain' THEN estimate_micros ELSE coalesce((step).cost, 0) END
            - CASE state WHEN 'uncertain' THEN estimate_micros ELSE coalesce(cost_micros, 0) END AS counted,
          coalesce((step).cost, 0) - coalesce(cost_micros, 0) AS booked,
          CASE WHEN state IN ('reserved', 'uncertain') AND (step).state IN ('settled', 'released')
            THEN estimate_micros ELSE 0 END AS freed
        FROM decided AS d WHERE request_id IS NOT NULL AND (step).effect NOT IN ('none', 'conflict')
      ), reservation_changes AS (
        UPDATE reservations AS r SET state = (c.step).state, settled_by = (c.step).settled_by, cost_micros = (c.step).cost,
            uncertain_at = CASE (c.step).effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END,
            ended_at = CASE WHEN (c.step).effect IN ('settled', 'released') THEN at ELSE r.ended_at END,
            adjusted_at = CASE (c.step).effect WHEN 'adjusted' THEN at END
          FROM change AS c WHERE r.request_id = c.request_id
      ), account_changes AS (
        UPDATE accounts AS a SET pending = a.pending - c.places,
            week_used_micros = a.week_used_micros + c.week, month_used_micros = a.month_used_micros + c.month
          FROM (SELECT o.svc_user_id, count(*) FILTER (WHERE c.state = 'reserved') AS places,
                  coalesce(sum(c.counted) FILTER (WHERE c.week_start = o.week_start), 0) AS week,
                  coalesce(sum(c.counted) FILTER (WHERE c.month_start = o.month_start), 0) AS month
                FROM change AS c JOIN accounts AS o ON o.svc_user_id = c.svc_user_id
                WHERE c.kind = 'delegated' GROUP BY o.svc_user_id) AS c
          WHERE a.svc_user_id = c.svc_user_id
      ), budgets AS (
        SELECT array_agg(key_id) AS keys, array_agg(month_start) AS months, array_agg(counted) AS counted
        FROM (SELECT key_id, month_start, sum(counted)::bigint AS counted FROM change
              WHERE kind = 'api_key' GROUP BY key_id, month_start HAVING sum(counted) <> 0) AS c
      ), owners AS (
        SELECT array_agg(svc_user_id ORDER BY svc_user_id) AS ids, array_agg(freed ORDER BY svc_user_id) AS freed,
          array_agg(booked ORDER BY svc_user_id) AS booked
        FROM (SELECT svc_user_id, sum(freed)::bigint AS freed, sum(booked)::bigint AS booked FROM change
              WHERE kind = 'api_key' GROUP BY svc_user_id) AS c
      ), usage AS (
        SELECT array_agg(CASE (step).effect WHEN 'adjusted' THEN 'usage_adjustment' ELSE 'usage' END ORDER BY place) AS kinds,
          array_agg(request_id ORDER BY place) AS ids, array_agg(svc_user_id ORDER BY place) AS owners,
          array_agg(ARRAY[booked, -booked] ORDER BY place) AS amounts
        FROM change WHERE kind = 'delegated' AND booked <> 0
      ), funds AS (
        SELECT array_agg(CASE (step).effect WHEN 'adjusted' THEN 'adjustment' ELSE 'settlement' END ORDER BY place) AS kinds,
          array_agg(request_id ORDER BY place) AS ids, array_agg(svc_user_id ORDER BY place) AS owners,
          array_agg(ARRAY[-booked, booked] ORDER BY place) AS amounts
        FROM change WHERE kind = 'api_key' AND booked <> 0
      ), result AS (
        SELECT array_agg(place) AS places, array_agg(named_id) AS ids,
          array_agg(CASE WHEN request_id IS NOT NULL THEN (step).state END) AS states,
          array_agg(CASE WHEN request_id IS NULL THEN 'unknown' ELSE (step).effect END) AS effects,
          array_agg(CASE WHEN kind = 'api_key' AND (step).effect NOT IN ('none', 'conflict')
            THEN greatest((step).cost - estimate_micros, 0) END) AS over_holds
        FROM decided
      )
      SELECT result.*, usage.kinds AS usage_kinds, usage.ids AS usage_ids, usage.owners AS usage_owners, usage.amounts AS usage_amounts,
          funds.kinds AS funds_kinds, funds.ids AS funds_ids, funds.owners AS funds_owners, funds.amounts AS funds_amounts,
          owners.ids AS owner_ids, owners.freed, owners.booked, budgets.keys, budgets.months, budgets.counted
        INTO done FROM result, usage, funds, owners, budgets;
      IF done.usage_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.usage_kinds, done.usage_ids, done.usage_owners, p_currency,
          ARRAY['usage', 'allowance'], done.usage_amounts);
      END IF;
      IF done.funds_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.funds_kinds, done.funds_ids, done.funds_owners, p_currency,
          ARRAY['wallet_available', 'income'], done.funds_amounts);
      END IF;
      IF cardinality(done.owner_ids) > 1 THEN
        PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (done.owner_ids) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
      END IF;
      IF done.owner_ids IS NOT NULL THEN
        UPDATE wallets AS w SET held_micros = w.held_micros - c.freed, balance_micros = w.balance_micros - c.booked
          FROM unnest(done.owner_ids, done.freed, done.booked) AS c (svc_user_id, freed, booked)
          WHERE w.svc_user_id = c.svc_user_id;
      END IF;
      IF done.keys IS NOT NULL THEN
        UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + c.counted
          FROM unnest(done.keys, done.months, done.counted) AS c (key_id, month_start, counted)
          WHERE k.key_id = c.key_id AND k.month_start = c.month_start;
      END IF;
      RETURN QUERY SELECT * FROM unnest(done.places, done.ids, done.states, done.effects, done.over_holds);
    END $function$
;

CREATE OR REPLACE FUNCTION public.settlement_step(p_state text, p_settled_by text, p_cost bigint, p_estimate bigint, p_outcome text, p_outcome_cost bigint, OUT state text, OUT settled_by text, OUT cost bigint, OUT effect text)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
    DECLARE told bigint := CASE p_outcome WHEN 'settled' THEN p_outcome_cost WHEN 'released' THEN 0 END;
    BEGIN
      state := p_state;
      settled_by := p_settled_by;
      cost := p_cost;
      effect := 'none';
      IF p_state = 'reserved' AND p_outcome IN ('released', 'uncertain') THEN
        state := p_outcome;
        effect := p_outcome;
      ELSIF p_state IN ('reserved', 'uncertain') AND told IS NOT NULL THEN
        state := 'settled';
        settled_by := 'usage';
        cost := told;
        effect := 'settled';
      ELSIF p_state = 'uncertain' AND p_outcome = 'estimate' THEN
        state := 'settled';
        settled_by := 'estimate';
        cost := p_estimate;
        effect := 'settled';
      ELSIF p_state = 'settled' AND p_settled_by = 'estimate' AND told IS NOT NULL THEN
        settled_by := 'usage';
        cost := told;
        effect := 'adjusted';
      ELSIF told IS DISTINCT FROM coalesce(p_cost, 0) AND told IS NOT NULL THEN
        effect := 'conflict';
      END IF;
    END $function$
;

CREATE OR REPLACE FUNCTION public.shrink_holds(p_request_ids text[], p_estimates bigint[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
DECLARE
  owners text[];
  freed bigint[];
BEGIN
  PERFORM FROM reservations AS r WHERE r.request_id = ANY (p_request_ids) AND r.kind = 'api_key'
    ORDER BY r.request_id FOR NO KEY UPDATE;
  WITH held AS MATERIALIZED (
    SELECT r.request_id, r.svc_user_id, t.estimate, r.estimate_micros - t.estimate AS freed
    FROM (SELECT n.request_id, min(n.estimate) AS estimate FROM unnest(p_request_ids, p_estimates) AS n (request_id, estimate)
          GROUP BY n.request_id) AS t
      JOIN reservations AS r ON r.request_id = t.request_id
    WHERE r.kind = 'api_key' AND r.state = 'reserved' AND t.estimate < r.estimate_micros
  ), shrunk AS (
    UPDATE reservations AS r SET estimate_micros = h.estimate FROM held AS h WHERE r.request_id = h.request_id
  )
  SELECT array_agg(o.svc_user_id ORDER BY o.svc_user_id), array_agg(o.freed ORDER BY o.svc_user_id) INTO owners, freed
    FROM (SELECT h.svc_user_id, sum(h.freed)::bigint AS freed FROM held AS h GROUP BY h.svc_user_id) AS o;
  IF owners IS NULL THEN RETURN; END IF;
  PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (owners) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
  UPDATE wallets AS w SET held_micros = w.held_micros - o.freed
    FROM unnest(owners, freed) AS o (svc_user_id, freed) WHERE w.svc_user_id = o.svc_user_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.status_admits(p_status text, p_past_due_since timestamp with time zone, p_grace interval, p_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      SELECT p_status IN ('active', 'trialing') OR (p_status = 'past_due' AND p_at < p_past_due_since + p_grace)
    $function$
;

CREATE OR REPLACE FUNCTION public.wallet_alerts_follow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE least_micros bigint;
BEGIN
  IF NEW.balance_micros >= OLD.balance_micros THEN RETURN NULL; END IF;
  least_micros := (alert_settings_of(NEW.svc_user_id)).wallet_below_micros;
  IF OLD.balance_micros >= least_micros AND NEW.balance_micros < least_micros THEN
    PERFORM publish_alert(NEW.svc_user_id, 'wallet', '', NEW.revision, NULL, NEW.balance_micros, least_micros, NULL);
  END IF;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION public.wallet_credit(p_svc_user_id text, p_amount_micros bigint, p_currency text, p_reference text)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
    END $function$
;

CREATE OR REPLACE FUNCTION public.wallet_refund(p_svc_user_id text, p_amount_micros bigint, p_reference text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    DECLARE w wallets%ROWTYPE;
    BEGIN
      SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
      IF NOT FOUND OR w.balance_micros - w.held_micros < p_amount_micros THEN RETURN false; END IF;
      PERFORM ledger_post('refund', p_reference, p_svc_user_id, w.currency,
        ARRAY['wallet_available', 'payments_received'], ARRAY[-p_amount_micros, p_amount_micros]);
      UPDATE wallets SET balance_micros = balance_micros - p_amount_micros WHERE svc_user_id = p_svc_user_id;
      RETURN true;
    END $function$
;

CREATE OR REPLACE FUNCTION public.wallet_refund_refused(p_svc_user_id text, p_amount_micros bigint, p_reference text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    DECLARE w wallets%ROWTYPE;
    BEGIN
      SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
      PERFORM ledger_post('adjustment', p_reference, p_svc_user_id, w.currency,
        ARRAY['wallet_available', 'payments_received'], ARRAY[p_amount_micros, -p_amount_micros]);
      UPDATE wallets SET balance_micros = balance_micros + p_amount_micros WHERE svc_user_id = p_svc_user_id;
    END $function$
;

CREATE OR REPLACE FUNCTION public.wallet_reverse(p_svc_user_id text, p_amount_micros bigint, p_reference text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE w wallets%ROWTYPE;
BEGIN
  SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  PERFORM ledger_post(CASE WHEN p_amount_micros > 0 THEN 'refund' ELSE 'adjustment' END, p_reference, p_svc_user_id,
    w.currency, ARRAY['wallet_available', 'payments_received'], ARRAY[-p_amount_micros, p_amount_micros]);
  UPDATE wallets SET balance_micros = balance_micros - p_amount_micros WHERE svc_user_id = p_svc_user_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.weekly_window(p_anchor timestamp with time zone, p_at timestamp with time zone, OUT starts_at timestamp with time zone, OUT ends_at timestamp with time zone)
 RETURNS record
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      SELECT p_anchor + weeks.n * interval '168 hours', p_anchor + (weeks.n + 1) * interval '168 hours'
      FROM (SELECT floor(extract(epoch FROM p_at - p_anchor) / 604800)::float8 AS n) AS weeks
    $function$
;

CREATE OR REPLACE FUNCTION public.with_current_budget_window(b app_budgets, p_week_start timestamp with time zone, p_month_start timestamp with time zone)
 RETURNS app_budgets
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
  starts_at timestamptz := CASE b.period WHEN 'week' THEN p_week_start WHEN 'month' THEN p_month_start
    ELSE b.limited_since END;
BEGIN
  IF b.window_start <> starts_at THEN
    b.window_start := starts_at;
    b.used_micros := 0;
    b.held_micros := 0;
    b.uncertain_micros := 0;
  END IF;
  RETURN b;
END $function$
;

CREATE OR REPLACE FUNCTION public.with_current_key_windows(k key_budgets, p_at timestamp with time zone)
 RETURNS key_budgets
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE month timestamptz := date_trunc('month', p_at, 'UTC');
BEGIN
  IF k.key_id IS NULL OR p_at >= k.minute_start + interval '60 seconds' THEN
    k.minute_start := p_at;
    k.minute_count := 0;
    k.minute_tokens := 0;
  END IF;
  -- Months only move forward, as windows do.
  IF k.key_id IS NULL OR month > k.month_start THEN
    k.month_start := month;
    k.month_used_micros := 0;
  END IF;
  RETURN k;
END $function$
;

CREATE OR REPLACE FUNCTION public.with_current_windows(a accounts, p_at timestamp with time zone)
 RETURNS accounts
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
  IF p_at >= a.week_end THEN
    SELECT w.starts_at, w.ends_at, 0 INTO a.week_start, a.week_end, a.week_used_micros
      FROM weekly_window(a.anchor, p_at) AS w;
  END IF;
  IF p_at >= a.month_end THEN
    SELECT w.starts_at, w.ends_at, 0 INTO a.month_start, a.month_end, a.month_used_micros
      FROM monthly_window(a.anchor, a.interval, a.period_start, a.period_end, p_at) AS w;
  END IF;
  RETURN a;
END $function$
;

CREATE OR REPLACE FUNCTION public.write_delegated_use(p_changes plan_use_change[], p_currency text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE accounts AS a SET pending = a.pending - d.ended, week_used_micros = a.week_used_micros + d.week,
      month_used_micros = a.month_used_micros + d.month
    FROM (SELECT c.svc_user_id, sum(c.ended) AS ended,
            coalesce(sum(c.counted) FILTER (WHERE v.week_start = c.week_start), 0) AS week,
            coalesce(sum(c.counted) FILTER (WHERE v.month_start = c.month_start), 0) AS month
          FROM unnest(p_changes) AS c JOIN accounts AS v ON v.svc_user_id = c.svc_user_id GROUP BY c.svc_user_id) AS d
    WHERE a.svc_user_id = d.svc_user_id;
  PERFORM ledger_post_many(array_agg(c.posting_kind), array_agg(c.request_id), array_agg(c.svc_user_id), p_currency,
      ARRAY['usage', 'allowance'], array_agg(ARRAY[c.cost, -c.cost]))
    FROM unnest(p_changes) AS c WHERE c.cost <> 0 HAVING count(*) > 0;
END $function$
;

CREATE OR REPLACE FUNCTION public.write_key_admissions(p_held wallet_hold[], p_keys key_budgets[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF cardinality(p_held) = 0 THEN RETURN; END IF;
  UPDATE wallets AS w SET held_micros = w.held_micros + d.hold
    FROM (SELECT h.svc_user_id, sum(h.hold) AS hold FROM unnest(p_held) AS h GROUP BY h.svc_user_id) AS d
    WHERE w.svc_user_id = d.svc_user_id;
  INSERT INTO key_budgets AS b (key_id, svc_user_id, minute_start, minute_count, minute_tokens, month_start,
      month_used_micros, month_limit_micros)
    SELECT key_id, svc_user_id, minute_start, minute_count, minute_tokens, month_start, month_used_micros,
        month_limit_micros FROM unnest(p_keys)
    ON CONFLICT (key_id) DO UPDATE SET minute_start = excluded.minute_start, minute_count = excluded.minute_count,
      minute_tokens = excluded.minute_tokens, month_start = excluded.month_start,
      month_used_micros = excluded.month_used_micros, month_limit_micros = excluded.month_limit_micros
    WHERE (b.minute_start, b.minute_count, b.minute_tokens, b.month_start, b.month_limit_micros) IS DISTINCT FROM
      (excluded.minute_start, excluded.minute_count, excluded.minute_tokens, excluded.month_start,
        excluded.month_limit_micros);
END $function$
;

CREATE OR REPLACE FUNCTION public.write_key_use(p_changes key_use_change[], p_currency text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM ledger_post_many(array_agg(c.posting_kind), array_agg(c.request_id), array_agg(c.svc_user_id), p_currency,
      ARRAY['wallet_available', 'write_offs', 'income'], array_agg(ARRAY[-c.paid, c.written_off, c.income]))
    FROM unnest(p_changes) AS c WHERE c.paid <> 0 OR c.written_off <> 0 OR c.income <> 0
    HAVING count(*) > 0;
  PERFORM lock_wallets(ARRAY(SELECT c.svc_user_id FROM unnest(p_changes) AS c));
  UPDATE wallets AS w SET held_micros = w.held_micros - d.freed, balance_micros = w.balance_micros - d.paid
    FROM (SELECT c.svc_user_id, sum(c.freed) AS freed, sum(c.paid) AS paid FROM unnest(p_changes) AS c
          GROUP BY c.svc_user_id) AS d
    WHERE w.svc_user_id = d.svc_user_id AND (d.freed <> 0 OR d.paid <> 0);
  UPDATE key_budgets AS b SET month_used_micros = b.month_used_micros + d.counted,
      minute_tokens = greatest(b.minute_tokens + d.tokens, 0)
    FROM (SELECT c.key_id, coalesce(sum(c.counted) FILTER (WHERE k.month_start = c.month_start), 0) AS counted,
            coalesce(sum(c.tokens) FILTER (WHERE k.minute_start = c.minute_start), 0) AS tokens
          FROM unnest(p_changes) AS c JOIN key_budgets AS k ON k.key_id = c.key_id GROUP BY c.key_id) AS d
    WHERE b.key_id = d.key_id AND (d.counted <> 0 OR d.tokens <> 0);
END $function$
;

CREATE OR REPLACE FUNCTION public.write_reservations(p_changed reservations[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE reservations AS r SET state = c.state, settled_by = c.settled_by, cost_micros = c.cost_micros,
      written_off_micros = c.written_off_micros, budget_micros = c.budget_micros, uncertain_at = c.uncertain_at,
      ended_at = c.ended_at, adjusted_at = c.adjusted_at
    FROM unnest(p_changed) AS c WHERE r.request_id = c.request_id;
END $function$
;

CREATE OR REPLACE FUNCTION public.write_usage_days(p_changes plan_use_change[])
 RETURNS void
 LANGUAGE plpgsql
 SET enable_indexscan TO 'off'
AS $function$
BEGIN
  MERGE INTO usage_days AS d USING (
    SELECT r.svc_user_id, (r.created_at AT TIME ZONE 'UTC')::date AS day, r.client_id, r.service,
        -- An adjustment changes the cost of a request that is counted already.
        count(DISTINCT c.request_id) FILTER (WHERE c.posting_kind = 'usage') AS requests, sum(c.cost) AS cost_micros,
        coalesce(sum(c.cost) FILTER (WHERE a.week_start = r.week_start
          AND (r.week_start AT TIME ZONE 'UTC')::date = (r.created_at AT TIME ZONE 'UTC')::date), 0) AS week_first_micros,
        coalesce(sum(c.cost) FILTER (WHERE a.month_start = r.month_start
          AND (r.month_start AT TIME ZONE 'UTC')::date = (r.created_at AT TIME ZONE 'UTC')::date), 0) AS month_first_micros
      FROM unnest(p_changes) AS c
      JOIN reservations AS r ON r.request_id = c.request_id AND r.state = 'settled'
      JOIN accounts AS a ON a.svc_user_id = r.svc_user_id
      GROUP BY 1, 2, 3, 4) AS change
    ON (d.svc_user_id, d.day, d.client_id, d.service) = (change.svc_user_id, change.day, change.client_id, change.service)
    WHEN MATCHED THEN
      UPDATE SET requests = d.requests + change.requests, cost_micros = d.cost_micros + change.cost_micros,
        week_first_micros = d.week_first_micros + change.week_first_micros,
        month_first_micros = d.month_first_micros + change.month_first_micros
    WHEN NOT MATCHED THEN
      INSERT VALUES (change.svc_user_id, change.day, change.client_id, change.service, change.requests, change.cost_micros,
        change.week_first_micros, change.month_first_micros);
END $function$
;

CREATE OR REPLACE FUNCTION public.write_wallet_usage_days(p_changes key_use_change[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO wallet_usage_days AS d (svc_user_id, day, paid_micros, last_posted_at)
    SELECT p.svc_user_id, (p.posted_at AT TIME ZONE 'UTC')::date AS day, sum(c.paid), max(p.posted_at)
      FROM unnest(p_changes) AS c
      JOIN ledger_postings AS p ON (p.reference, p.kind) = (c.request_id, c.posting_kind)
      WHERE c.paid <> 0 GROUP BY p.svc_user_id, 2 ORDER BY p.svc_user_id, 2
    ON CONFLICT (svc_user_id, day) DO UPDATE SET paid_micros = d.paid_micros + excluded.paid_micros,
      last_posted_at = greatest(d.last_posted_at, excluded.last_posted_at);
END $function$
;

CREATE TABLE account_endings (
  svc_user_id text NOT NULL,
  wanted text NOT NULL,
  cancelled_subscription_id text,
  is_applied boolean DEFAULT false NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT account_endings_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT account_endings_wanted_check CHECK ((wanted = ANY (ARRAY['cancel'::text, 'keep'::text, 'erase'::text])))
);
CREATE INDEX account_endings_waiting ON account_endings USING btree (updated_at) WHERE (NOT is_applied);

CREATE TABLE accounts (
  svc_user_id text NOT NULL,
  status text NOT NULL,
  plan_id text NOT NULL,
  past_due_since timestamp with time zone,
  anchor timestamp with time zone NOT NULL,
  "interval" text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  week_start timestamp with time zone NOT NULL,
  week_end timestamp with time zone NOT NULL,
  week_used_micros bigint DEFAULT 0 NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_end timestamp with time zone NOT NULL,
  month_used_micros bigint DEFAULT 0 NOT NULL,
  pending integer DEFAULT 0 NOT NULL,
  has_app_budgets boolean DEFAULT false NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT accounts_sound CHECK (account_is_sound(anchor, "interval", period_start, period_end, week_used_micros, month_used_micros, pending))
) WITH (fillfactor=50);
CREATE TRIGGER accounts_alerts AFTER UPDATE OF week_used_micros, month_used_micros ON accounts FOR EACH ROW EXECUTE FUNCTION account_alerts_follow();

CREATE TABLE alert_settings (
  svc_user_id text NOT NULL,
  thresholds_percent integer[] NOT NULL,
  wallet_below_micros bigint,
  CONSTRAINT alert_settings_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT alert_settings_thresholds_percent_check CHECK (((1 <= ALL (thresholds_percent)) AND (100 >= ALL (thresholds_percent)))),
  CONSTRAINT alert_settings_wallet_below_micros_check CHECK ((wallet_below_micros > 0))
);

CREATE TABLE app_budgets (
  svc_user_id text NOT NULL,
  client_id text NOT NULL,
  is_paused boolean NOT NULL,
  limit_micros bigint,
  period text,
  expires_at timestamp with time zone,
  limited_since timestamp with time zone,
  window_start timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
  used_micros bigint DEFAULT 0 NOT NULL,
  held_micros bigint DEFAULT 0 NOT NULL,
  uncertain_micros bigint DEFAULT 0 NOT NULL,
  total_used_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT app_budgets_pkey PRIMARY KEY (svc_user_id, client_id),
  CONSTRAINT app_budgets_check CHECK (((limit_micros IS NULL) = (period IS NULL))),
  CONSTRAINT app_budgets_check1 CHECK (((limit_micros IS NULL) = (limited_since IS NULL))),
  CONSTRAINT app_budgets_check2 CHECK (((expires_at IS NULL) OR (limit_micros IS NOT NULL))),
  CONSTRAINT app_budgets_held_micros_check CHECK ((held_micros >= 0)),
  CONSTRAINT app_budgets_limit_micros_check CHECK ((limit_micros >= 0)),
  CONSTRAINT app_budgets_period_check CHECK ((period = ANY (ARRAY['week'::text, 'month'::text, 'total'::text]))),
  CONSTRAINT app_budgets_total_used_micros_check CHECK ((total_used_micros >= 0)),
  CONSTRAINT app_budgets_uncertain_micros_check CHECK ((uncertain_micros >= 0)),
  CONSTRAINT app_budgets_used_micros_check CHECK ((used_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER app_budgets_alerts AFTER UPDATE OF used_micros, uncertain_micros ON app_budgets FOR EACH ROW EXECUTE FUNCTION app_budget_alerts_follow();

CREATE TABLE auto_top_ups (
  svc_user_id text NOT NULL,
  is_enabled boolean NOT NULL,
  below_micros bigint NOT NULL,
  amount_micros bigint NOT NULL,
  monthly_max_micros bigint NOT NULL,
  CONSTRAINT auto_top_ups_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT auto_top_ups_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT auto_top_ups_below_micros_check CHECK ((below_micros >= 0)),
  CONSTRAINT auto_top_ups_monthly_max_micros_check CHECK ((monthly_max_micros >= 0))
);
CREATE INDEX auto_top_ups_enabled ON auto_top_ups USING btree (svc_user_id) WHERE is_enabled;

CREATE TABLE checkout_sessions (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  kind text NOT NULL,
  plan_id text,
  amount_micros bigint,
  provider text NOT NULL,
  provider_session_id text,
  status text DEFAULT 'open'::text NOT NULL,
  subscription_id text,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  asked_micros bigint,
  asked_currency text,
  paid_micros bigint,
  paid_currency text,
  mismatched_subscription_id text,
  is_automatic boolean DEFAULT false NOT NULL,
  invoiced_at timestamp with time zone,
  CONSTRAINT checkout_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT checkout_sessions_of_provider UNIQUE (provider, provider_session_id),
  CONSTRAINT checkout_sessions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT checkout_sessions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id),
  CONSTRAINT checkout_sessions_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT checkout_sessions_asked_check CHECK (((asked_currency IS NULL) = (asked_micros IS NULL))),
  CONSTRAINT checkout_sessions_asked_micros_check CHECK ((asked_micros >= 0)),
  CONSTRAINT checkout_sessions_check CHECK (((plan_id IS NOT NULL) = (kind = 'subscription'::text))),
  CONSTRAINT checkout_sessions_check1 CHECK (((amount_micros IS NOT NULL) = (kind = 'top_up'::text))),
  CONSTRAINT checkout_sessions_completed_at_check CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['complete'::text, 'void'::text, 'mismatched'::text])))),
  CONSTRAINT checkout_sessions_kind_check CHECK ((kind = ANY (ARRAY['subscription'::text, 'top_up'::text]))),
  CONSTRAINT checkout_sessions_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text]))),
  CONSTRAINT checkout_sessions_status_check CHECK ((status = ANY (ARRAY['open'::text, 'complete'::text, 'expired'::text, 'void'::text, 'mismatched'::text])))
);
CREATE INDEX checkout_sessions_automatic ON checkout_sessions USING btree (svc_user_id, created_at) WHERE is_automatic;
CREATE INDEX checkout_sessions_mismatched ON checkout_sessions USING btree (completed_at) WHERE (status = 'mismatched'::text);
CREATE UNIQUE INDEX checkout_sessions_one_automatic ON checkout_sessions USING btree (svc_user_id) WHERE (is_automatic AND (status = 'open'::text));
CREATE INDEX checkout_sessions_without_invoice ON checkout_sessions USING btree (completed_at) WHERE (is_automatic AND (status = 'complete'::text) AND (invoiced_at IS NULL));

CREATE TABLE customers (
  svc_user_id text NOT NULL,
  revision integer DEFAULT 0 NOT NULL,
  current_subscription_id text,
  created_at timestamp with time zone NOT NULL,
  announced_epoch uuid DEFAULT current_epoch() NOT NULL,
  CONSTRAINT customers_pkey PRIMARY KEY (svc_user_id)
);

CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  consumer text NOT NULL,
  event_id uuid,
  stream text NOT NULL,
  stream_seq bigint NOT NULL,
  subject text NOT NULL,
  payload text NOT NULL,
  deliveries integer NOT NULL,
  error_code text NOT NULL,
  created_at timestamp with time zone DEFAULT now() NOT NULL,
  resolved_at timestamp with time zone,
  CONSTRAINT dead_letters_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX dead_letters_event ON dead_letters USING btree (consumer, event_id) WHERE (event_id IS NOT NULL);
CREATE INDEX dead_letters_unresolved ON dead_letters USING btree (created_at) WHERE (resolved_at IS NULL);

CREATE TABLE epochs (
  epoch uuid NOT NULL,
  restored_to timestamp with time zone,
  began_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT epochs_pkey PRIMARY KEY (epoch),
  CONSTRAINT epochs_restored_to_unique UNIQUE (restored_to)
);

CREATE TABLE holders (
  holder_id text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT holders_pkey PRIMARY KEY (holder_id)
);

CREATE TABLE inbox (
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  received_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT inbox_pkey PRIMARY KEY (consumer, event_id)
);
CREATE INDEX inbox_by_age ON inbox USING brin (received_at);

CREATE TABLE inbox_versions (
  consumer text NOT NULL,
  aggregate text NOT NULL,
  version bigint NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  epoch uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  CONSTRAINT inbox_versions_pkey PRIMARY KEY (consumer, aggregate)
);

CREATE TABLE key_budgets (
  key_id text NOT NULL,
  svc_user_id text NOT NULL,
  minute_start timestamp with time zone NOT NULL,
  minute_count integer DEFAULT 0 NOT NULL,
  month_start timestamp with time zone NOT NULL,
  month_used_micros bigint DEFAULT 0 NOT NULL,
  month_limit_micros bigint,
  minute_tokens bigint DEFAULT 0 NOT NULL,
  CONSTRAINT key_budgets_pkey PRIMARY KEY (key_id),
  CONSTRAINT key_budgets_minute_count_check CHECK ((minute_count >= 0)),
  CONSTRAINT key_budgets_minute_tokens_check CHECK ((minute_tokens >= 0)),
  CONSTRAINT key_budgets_month_used_micros_check CHECK ((month_used_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER key_budgets_alerts AFTER UPDATE OF month_used_micros ON key_budgets FOR EACH ROW EXECUTE FUNCTION key_alerts_follow();

CREATE TABLE ledger_entries (
  posting_id bigint NOT NULL,
  book text NOT NULL,
  amount_micros bigint NOT NULL,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (posting_id, book),
  CONSTRAINT ledger_entries_amount_micros_check CHECK ((amount_micros <> 0)),
  CONSTRAINT ledger_entries_book_check CHECK ((book = ANY (ARRAY['usage'::text, 'allowance'::text, 'wallet_available'::text, 'wallet_held'::text, 'payments_received'::text, 'income'::text, 'write_offs'::text])))
);
CREATE TRIGGER ledger_entries_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_assert_entries();

CREATE TABLE ledger_postings (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  svc_user_id text NOT NULL,
  currency text NOT NULL,
  posted_at timestamp with time zone NOT NULL,
  CONSTRAINT ledger_postings_pkey PRIMARY KEY (id),
  CONSTRAINT ledger_postings_once UNIQUE (reference, kind),
  CONSTRAINT ledger_postings_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT ledger_postings_kind_check CHECK ((kind = ANY (ARRAY['usage'::text, 'usage_adjustment'::text, 'top_up'::text, 'hold'::text, 'release'::text, 'settlement'::text, 'adjustment'::text, 'refund'::text])))
);
CREATE INDEX ledger_postings_by_account ON ledger_postings USING btree (svc_user_id, id);
CREATE INDEX ledger_postings_of_funds ON ledger_postings USING btree (svc_user_id, id) WHERE (kind = ANY (ARRAY['top_up'::text, 'refund'::text, 'adjustment'::text]));
CREATE TRIGGER ledger_postings_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_postings_balanced AFTER INSERT ON ledger_postings REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_assert_postings();

CREATE TABLE outbox (
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  id uuid NOT NULL,
  aggregate text NOT NULL,
  version bigint NOT NULL,
  stream text NOT NULL,
  subject text NOT NULL,
  payload jsonb NOT NULL,
  occurred_at timestamp with time zone DEFAULT now() NOT NULL,
  published_at timestamp with time zone,
  stream_seq bigint,
  traceparent text,
  epoch uuid DEFAULT current_epoch() NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (seq),
  CONSTRAINT outbox_id_unique UNIQUE (id),
  CONSTRAINT outbox_version_positive CHECK ((version > 0))
);
CREATE INDEX outbox_unpublished ON outbox USING btree (stream, seq) WHERE (published_at IS NULL);

CREATE TABLE outbox_streams (
  stream text NOT NULL,
  created text NOT NULL,
  last_stream_seq bigint NOT NULL,
  last_event_id uuid NOT NULL,
  CONSTRAINT outbox_streams_pkey PRIMARY KEY (stream)
);

CREATE TABLE payment_reversals (
  provider text NOT NULL,
  provider_reversal_id text NOT NULL,
  svc_user_id text NOT NULL,
  session_id text NOT NULL,
  kind text NOT NULL,
  amount_micros bigint NOT NULL,
  changes integer DEFAULT 1 NOT NULL,
  provider_ticket bigint NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT payment_reversals_pkey PRIMARY KEY (provider, provider_reversal_id),
  CONSTRAINT payment_reversals_session_id_fkey FOREIGN KEY (session_id) REFERENCES checkout_sessions(id),
  CONSTRAINT payment_reversals_amount_micros_check CHECK ((amount_micros >= 0)),
  CONSTRAINT payment_reversals_kind_check CHECK ((kind = ANY (ARRAY['refund'::text, 'dispute'::text])))
);
CREATE INDEX payment_reversals_by_session ON payment_reversals USING btree (session_id);

CREATE TABLE plans (
  id text NOT NULL,
  name text NOT NULL,
  "interval" text NOT NULL,
  includes_chat boolean NOT NULL,
  includes_audio_transcription boolean NOT NULL,
  weekly_limit_micros bigint NOT NULL,
  monthly_limit_micros bigint NOT NULL,
  stripe_price_id text,
  is_offered boolean NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT plans_pkey PRIMARY KEY (id),
  CONSTRAINT plans_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text]))),
  CONSTRAINT plans_monthly_limit_micros_check CHECK ((monthly_limit_micros >= 0)),
  CONSTRAINT plans_weekly_limit_micros_check CHECK ((weekly_limit_micros >= 0))
);
CREATE INDEX plans_by_stripe_price ON plans USING btree (stripe_price_id) WHERE (stripe_price_id IS NOT NULL);

CREATE TABLE raised_alerts (
  svc_user_id text NOT NULL,
  subject text NOT NULL,
  subject_id text NOT NULL,
  window_id bigint NOT NULL,
  percent integer NOT NULL,
  CONSTRAINT raised_alerts_pkey PRIMARY KEY (svc_user_id, subject, subject_id),
  CONSTRAINT raised_alerts_subject_check CHECK ((subject = ANY (ARRAY['weekly_cap'::text, 'monthly_cap'::text, 'app_budget'::text, 'api_key'::text, 'wallet'::text])))
);

CREATE TABLE request_details (
  request_id text NOT NULL,
  service text NOT NULL,
  input_tokens bigint,
  output_tokens bigint,
  cached_input_tokens bigint,
  audio_ms bigint,
  provider text,
  model text,
  data_zone text,
  certification text,
  upstream_request_id text,
  CONSTRAINT request_details_pkey PRIMARY KEY (request_id)
);

CREATE TABLE reservations (
  request_id text NOT NULL,
  kind text NOT NULL,
  svc_user_id text NOT NULL,
  client_id text,
  key_id text,
  service text,
  idempotency_key_hash bytea,
  state text DEFAULT 'reserved'::text NOT NULL,
  estimate_micros bigint NOT NULL,
  cost_micros bigint,
  settled_by text,
  week_start timestamp with time zone,
  month_start timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  uncertain_at timestamp with time zone,
  ended_at timestamp with time zone,
  adjusted_at timestamp with time zone,
  holder_id text,
  reported_micros bigint,
  written_off_micros bigint DEFAULT 0 NOT NULL,
  minute_start timestamp with time zone,
  tokens bigint,
  budget_micros bigint,
  CONSTRAINT reservations_pkey PRIMARY KEY (request_id),
  CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, key_id, service, week_start, state, estimate_micros, cost_micros, settled_by, ended_at)),
  CONSTRAINT reservations_written_off CHECK (((written_off_micros >= 0) AND (written_off_micros <= COALESCE(cost_micros, (0)::bigint))))
) WITH (fillfactor=80);
CREATE INDEX reservations_by_holder ON reservations USING btree (holder_id, created_at) WHERE (state = 'reserved'::text);
CREATE UNIQUE INDEX reservations_idempotency_key ON reservations USING btree (svc_user_id, client_id, idempotency_key_hash) WHERE (idempotency_key_hash IS NOT NULL);
CREATE UNIQUE INDEX reservations_key_idempotency ON reservations USING btree (key_id, idempotency_key_hash) WHERE ((key_id IS NOT NULL) AND (idempotency_key_hash IS NOT NULL));
CREATE INDEX reservations_open_by_key ON reservations USING btree (key_id, month_start) WHERE ((key_id IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX reservations_uncertain ON reservations USING btree (uncertain_at) WHERE (state = 'uncertain'::text);

CREATE TABLE stripe_catalog (
  stripe_id text NOT NULL,
  plan_id text,
  CONSTRAINT stripe_catalog_pkey PRIMARY KEY (stripe_id),
  CONSTRAINT stripe_catalog_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id)
);

CREATE TABLE stripe_customers (
  svc_user_id text NOT NULL,
  customer_id text NOT NULL,
  CONSTRAINT stripe_customers_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT stripe_customers_once UNIQUE (customer_id)
);

CREATE TABLE subscriptions (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  provider text NOT NULL,
  provider_subscription_id text NOT NULL,
  provider_ticket bigint NOT NULL,
  status text NOT NULL,
  plan_id text NOT NULL,
  anchor timestamp with time zone NOT NULL,
  current_period_start timestamp with time zone NOT NULL,
  current_period_end timestamp with time zone NOT NULL,
  cancel_at_period_end boolean NOT NULL,
  past_due_since timestamp with time zone,
  ended_at timestamp with time zone,
  revision integer NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_of_provider UNIQUE (provider, provider_subscription_id),
  CONSTRAINT subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id),
  CONSTRAINT subscriptions_svc_user_id_fkey FOREIGN KEY (svc_user_id) REFERENCES customers(svc_user_id),
  CONSTRAINT subscriptions_check CHECK ((current_period_end > current_period_start)),
  CONSTRAINT subscriptions_check1 CHECK (((past_due_since IS NOT NULL) = (status = 'past_due'::text))),
  CONSTRAINT subscriptions_check2 CHECK (((ended_at IS NOT NULL) = (status = ANY (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text])))),
  CONSTRAINT subscriptions_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text]))),
  CONSTRAINT subscriptions_revision_check CHECK ((revision >= 1)),
  CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'incomplete_expired'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'canceled'::text, 'unpaid'::text, 'paused'::text])))
);
CREATE UNIQUE INDEX subscriptions_one_live ON subscriptions USING btree (svc_user_id) WHERE (status <> ALL (ARRAY['canceled'::text, 'unpaid'::text, 'incomplete_expired'::text]));

CREATE TABLE unadmitted_usage (
  request_id text NOT NULL,
  event_id uuid NOT NULL,
  fact jsonb NOT NULL,
  received_at timestamp with time zone NOT NULL,
  CONSTRAINT unadmitted_usage_pkey PRIMARY KEY (request_id, event_id)
);

CREATE TABLE usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  client_id text NOT NULL,
  service text NOT NULL,
  requests integer NOT NULL,
  cost_micros bigint NOT NULL,
  week_first_micros bigint DEFAULT 0 NOT NULL,
  month_first_micros bigint DEFAULT 0 NOT NULL,
  CONSTRAINT usage_days_pkey PRIMARY KEY (svc_user_id, day, client_id, service),
  CONSTRAINT usage_days_cost_micros_check CHECK ((cost_micros >= 0)),
  CONSTRAINT usage_days_requests_check CHECK ((requests >= 0))
) WITH (fillfactor=70);
CREATE INDEX usage_days_by_app ON usage_days USING btree (client_id, day, svc_user_id, service);

CREATE TABLE wallet_refunds (
  id text NOT NULL,
  svc_user_id text NOT NULL,
  session_id text NOT NULL,
  amount_micros bigint NOT NULL,
  state text DEFAULT 'pending'::text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT wallet_refunds_pkey PRIMARY KEY (id),
  CONSTRAINT wallet_refunds_session_id_fkey FOREIGN KEY (session_id) REFERENCES checkout_sessions(id),
  CONSTRAINT wallet_refunds_amount_micros_check CHECK ((amount_micros > 0)),
  CONSTRAINT wallet_refunds_check CHECK (((ended_at IS NOT NULL) = (state <> 'pending'::text))),
  CONSTRAINT wallet_refunds_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'refunded'::text, 'refused'::text])))
);
CREATE INDEX wallet_refunds_by_session ON wallet_refunds USING btree (session_id);
CREATE INDEX wallet_refunds_pending ON wallet_refunds USING btree (created_at) WHERE (state = 'pending'::text);

CREATE TABLE wallet_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  paid_micros bigint NOT NULL,
  last_posted_at timestamp with time zone NOT NULL,
  CONSTRAINT wallet_usage_days_pkey PRIMARY KEY (svc_user_id, day)
) WITH (fillfactor=70);

CREATE TABLE wallets (
  svc_user_id text NOT NULL,
  currency text NOT NULL,
  balance_micros bigint DEFAULT 0 NOT NULL,
  held_micros bigint DEFAULT 0 NOT NULL,
  revision integer DEFAULT 0 NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT wallets_pkey PRIMARY KEY (svc_user_id),
  CONSTRAINT wallets_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  CONSTRAINT wallets_held_micros_check CHECK ((held_micros >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER wallets_alerts AFTER UPDATE OF balance_micros ON wallets FOR EACH ROW EXECUTE FUNCTION wallet_alerts_follow();

CREATE VIEW sandbox_portal_sessions AS
 SELECT id,
    customer,
    return_url,
    is_challenged,
    expires_at
   FROM sandbox_payments.portal_sessions;

CREATE VIEW sandbox_sessions AS
 SELECT id,
    customer,
    description,
    plan_id,
    "interval",
    amount_micros,
    currency,
    success_url,
    cancel_url,
    expires_at,
    status,
    subscription_id,
    is_challenged,
    failure,
    is_announced
   FROM sandbox_payments.sessions;

CREATE VIEW sandbox_subscriptions AS
 SELECT id,
    customer,
    plan_id,
    "interval",
    status,
    anchor,
    period_start,
    period_end,
    cancel_at_period_end,
    ended_at,
    was_reverted,
    card,
    when_unpaid,
    clock_ahead_seconds,
    failed_attempts,
    next_attempt_at,
    is_announced
   FROM sandbox_payments.subscriptions;

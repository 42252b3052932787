-- Ends one reservation as reported. An outcome that was reported before, or comes too late, changes nothing (see
-- settlement_step). The caller holds the lock of an API key's reservation.
-- Effects beside those of settlement_step: 'unknown', a cost for a request that was never admitted; 'ignored', the same
-- without a cost. A released request that was never admitted leaves a tombstone: if its admission still arrives, it finds
-- the id taken.
CREATE OR REPLACE FUNCTION settle_request(
  p_request_id text, p_outcome text, p_cost bigint, p_currency text, p_tokens bigint,
  OUT state text, OUT effect text, OUT over_hold_micros bigint, OUT written_off_micros bigint
) LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := billing_now();
  r reservations%ROWTYPE;
  step record;
  written_off bigint := 0;
BEGIN
  over_hold_micros := 0;
  written_off_micros := 0;
  SELECT * INTO r FROM reservations AS v WHERE v.request_id = p_request_id;
  IF NOT FOUND AND p_outcome = 'released' THEN
    INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
      VALUES (p_request_id, 'given_up', '', 'released', 0, date_trunc('month', at, 'UTC'), at, at)
      ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN SELECT * INTO r FROM reservations AS v WHERE v.request_id = p_request_id FOR NO KEY UPDATE; END IF;
  END IF;
  IF r.request_id IS NULL THEN
    effect := CASE p_outcome WHEN 'settled' THEN 'unknown' ELSE 'ignored' END;
    RETURN;
  END IF;

  -- Most outcomes are reported twice, by a call and by a fact: an end that stands is told apart without a lock.
  step := settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, p_outcome, p_cost);
  IF r.kind = 'delegated' AND step.effect NOT IN ('none', 'conflict') THEN
    PERFORM FROM accounts AS a WHERE a.svc_user_id = r.svc_user_id FOR NO KEY UPDATE;
    SELECT * INTO r FROM reservations AS v WHERE v.request_id = p_request_id;
    step := settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, p_outcome, p_cost);
  END IF;
  state := step.state;
  effect := step.effect;
  IF effect IN ('none', 'conflict') THEN RETURN; END IF;

  IF r.kind = 'delegated' THEN
    PERFORM book_delegated_use(r, step.state, step.cost, p_currency);
  ELSE
    written_off := book_key_use(r, step.state, step.cost, p_currency, p_tokens);
    written_off_micros := greatest(written_off - r.written_off_micros, 0);
    over_hold_micros := greatest(step.cost - r.estimate_micros, 0);
  END IF;
  UPDATE reservations AS v SET state = step.state, settled_by = step.settled_by, cost_micros = step.cost,
      written_off_micros = written_off,
      budget_micros = CASE WHEN r.kind = 'delegated' AND step.state = 'settled' THEN least(r.budget_micros, step.cost)
        ELSE r.budget_micros END,
      uncertain_at = CASE step.effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END,
      ended_at = CASE WHEN step.effect IN ('settled', 'released') THEN at ELSE r.ended_at END,
      adjusted_at = CASE step.effect WHEN 'adjusted' THEN at ELSE r.adjusted_at END
    WHERE v.request_id = p_request_id;
END $$;

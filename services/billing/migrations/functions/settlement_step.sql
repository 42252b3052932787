-- The state machine of a reservation. Outcomes: settled, released and uncertain, reported by the gateway, and estimate, which only
-- the sweep gives to requests that stayed uncertain for too long. A release proves a cost of zero.
-- effect: none, settled, released, uncertain, adjusted, or conflict: another end than the recorded one.
CREATE OR REPLACE FUNCTION settlement_step(
  p_state text, p_settled_by text, p_cost bigint, p_estimate bigint, p_outcome text, p_outcome_cost bigint,
  OUT state text, OUT settled_by text, OUT cost bigint, OUT effect text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE reported_cost bigint := CASE p_outcome WHEN 'settled' THEN p_outcome_cost WHEN 'released' THEN 0 END;
BEGIN
  state := p_state;
  settled_by := p_settled_by;
  cost := p_cost;
  effect := 'none';
  IF p_state = 'reserved' AND p_outcome IN ('released', 'uncertain') THEN
    state := p_outcome;
    effect := p_outcome;
  ELSIF p_state IN ('reserved', 'uncertain') AND reported_cost IS NOT NULL THEN
    state := 'settled';
    settled_by := 'usage';
    cost := reported_cost;
    effect := 'settled';
  ELSIF p_state = 'uncertain' AND p_outcome = 'estimate' THEN
    state := 'settled';
    settled_by := 'estimate';
    cost := p_estimate;
    effect := 'settled';
  ELSIF p_state = 'settled' AND p_settled_by = 'estimate' AND reported_cost IS NOT NULL THEN
    settled_by := 'usage';
    cost := reported_cost;
    effect := 'adjusted';
  ELSIF reported_cost IS DISTINCT FROM coalesce(p_cost, 0) AND reported_cost IS NOT NULL THEN
    effect := 'conflict';
  END IF;
END $$;

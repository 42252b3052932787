-- Writes the ends of reservations in one statement, so that statement triggers run once. Their ids lie between the given ones.
CREATE OR REPLACE FUNCTION write_reservations(p_changed reservations[], p_first_id text, p_last_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE reservations AS r SET state = c.state, settled_by = c.settled_by, cost_micros = c.cost_micros,
      budget_micros = c.budget_micros, uncertain_at = c.uncertain_at,
      ended_at = c.ended_at, adjusted_at = c.adjusted_at, holder_id = CASE WHEN c.ended_at IS NULL THEN r.holder_id END
    FROM unnest(p_changed) AS c WHERE r.request_id = c.request_id AND r.request_id BETWEEN p_first_id AND p_last_id;
END $$;

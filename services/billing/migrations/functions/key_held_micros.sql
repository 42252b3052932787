-- Returns the sum of an API key's holds that were admitted in the month with the given start. Exact while the caller
-- holds the lock of the key's wallet, because no other admission or settlement of the key can commit.
-- A request that has neither ended nor become uncertain is reserved. Said by `state`, a plan made without statistics may
-- read the index of holders, with every reserved request in it.
CREATE OR REPLACE FUNCTION key_held_micros(p_key_id text, p_month_start timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(estimate_micros), 0)::bigint FROM reservations
    WHERE key_id = p_key_id AND month_start = p_month_start AND ended_at IS NULL AND state <> 'uncertain'
$$;

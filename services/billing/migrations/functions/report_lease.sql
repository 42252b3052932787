-- Applies the report of a lease to its row, and to the minute of its key. Returns both, unwritten; the part that goes back to
-- the wallet is the growth of `returned_micros`. Sums only grow, so an old or repeated report changes nothing. A lease whose
-- minute is over begins a new one with the key's.
CREATE OR REPLACE FUNCTION report_lease(
  p_lease leases, p_key key_budgets, p_report jsonb, p_at timestamptz, OUT lease leases, OUT key key_budgets
)
LANGUAGE plpgsql AS $$
DECLARE
  minute jsonb := p_report -> 'returned_in_minute';
  returned bigint;
BEGIN
  lease := p_lease;
  key := p_key;
  lease.reported_at := p_at;
  lease.known_micros := (p_report ->> 'known_micros')::bigint;
  lease.returned_micros := greatest(lease.returned_micros,
    least((p_report ->> 'returned_micros')::bigint, lease.granted_micros - lease.settled_micros));
  IF (p_report ->> 'is_ended')::boolean THEN
    -- Nothing runs, so that all it keeps is the cost of its requests. Its holder may not know of a grant whose answer was lost.
    lease.returned_micros := lease.granted_micros
      - greatest(least(lease.known_micros, lease.granted_micros - lease.returned_micros), lease.settled_micros);
  END IF;
  IF lease.minute_start <> key.minute_start THEN
    lease.minute_start := key.minute_start;
    lease.granted_requests := 0;
    lease.returned_requests := 0;
    lease.granted_tokens := 0;
    lease.returned_tokens := 0;
  ELSIF (minute ->> 'id')::bigint = instant_id(key.minute_start) THEN
    returned := greatest(lease.returned_requests, least((minute ->> 'requests')::bigint, lease.granted_requests));
    key.minute_count := greatest(key.minute_count - (returned - lease.returned_requests), 0);
    lease.returned_requests := returned;
    returned := greatest(lease.returned_tokens, least((minute ->> 'tokens')::bigint, lease.granted_tokens));
    key.minute_tokens := greatest(key.minute_tokens - (returned - lease.returned_tokens), 0);
    lease.returned_tokens := returned;
  END IF;
END $$;

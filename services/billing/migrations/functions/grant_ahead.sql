-- Returns the amounts that a lease gets beyond its requests: what its key will soon need, at most an eighth of what is left of
-- balance, month and minute (NULL without a limit). Near a limit it gets nothing, so that leases there are of one.
CREATE OR REPLACE FUNCTION grant_ahead(
  p_wanted jsonb, p_micros_left bigint, p_requests_left bigint, p_tokens_left bigint,
  OUT micros bigint, OUT requests bigint, OUT tokens bigint
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  wanted_micros bigint := (p_wanted ->> 'micros')::bigint;
  wanted_requests bigint := (p_wanted ->> 'requests')::bigint;
  wanted_tokens bigint := (p_wanted ->> 'tokens')::bigint;
  -- Part of what is wanted that every limit allows.
  share float8 := least(1, p_micros_left / 8.0 / nullif(wanted_micros, 0), p_requests_left / 8.0 / nullif(wanted_requests, 0),
    p_tokens_left / 8.0 / nullif(wanted_tokens, 0));
BEGIN
  IF share < 0.25 THEN share := 0; END IF;
  micros := floor(wanted_micros * share);
  requests := floor(wanted_requests * share);
  tokens := floor(wanted_tokens * share);
END $$;

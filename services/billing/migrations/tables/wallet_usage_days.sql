-- What API-key requests took from a wallet on a UTC day, and the time of its last posting.
CREATE TABLE IF NOT EXISTS wallet_usage_days (
  svc_user_id text NOT NULL,
  day date NOT NULL,
  paid_micros bigint NOT NULL,
  last_posted_at timestamptz NOT NULL,
  PRIMARY KEY (svc_user_id, day)
) WITH (fillfactor = 70);

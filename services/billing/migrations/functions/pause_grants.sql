-- Keeps leases of a wallet from being granted anything ahead of need while a request waits for what they give back: longer than a
-- recall takes, with its answer applied.
CREATE OR REPLACE FUNCTION pause_grants(p_svc_user_id text) RETURNS void
LANGUAGE sql AS $$
  UPDATE wallets AS w SET recalling_until = billing_now() + interval '250 milliseconds' WHERE w.svc_user_id = p_svc_user_id
$$;

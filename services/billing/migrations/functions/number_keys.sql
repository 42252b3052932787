-- Gives numbers to API keys in outcomes that have none yet. The caller holds the locks of the wallets.
CREATE OR REPLACE FUNCTION number_keys(p_outcomes jsonb) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO request_keys (svc_user_id, key_id)
    SELECT DISTINCT o.svc_user_id, o.key_id FROM jsonb_to_recordset(p_outcomes) AS o (svc_user_id text, key_id text)
      WHERE o.key_id IS NOT NULL AND NOT EXISTS (SELECT FROM request_keys AS k WHERE k.svc_user_id = o.svc_user_id AND k.key_id = o.key_id)
    ON CONFLICT DO NOTHING;
END $$;

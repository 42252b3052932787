-- Guards of the simulation inside billing's database. Each runs at the commit of a transaction, sees what is committed with
-- it, and looks only at what the transaction changed. Since the simulation lets one transaction commit at a time, this
-- equals a look from outside after each commit. A violation becomes a notice, which the simulation reads from the answer.
CREATE FUNCTION simulation_report(violation text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE WARNING USING ERRCODE = 'SIM01', MESSAGE = violation;
END $$;

-- Returns true once for each subject in a transaction: several of its changes need one look.
CREATE FUNCTION simulation_is_first_look(subject text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  looked text := pg_current_xact_id()::text || ' ' || subject;
BEGIN
  IF current_setting('simulation.looked', true) = looked THEN RETURN false; END IF;
  PERFORM set_config('simulation.looked', looked, false);
  RETURN true;
END $$;

-- Reports a reservation that leaves a final state.
CREATE FUNCTION simulation_watch_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM simulation_report(format('%s went from %s to %s', NEW.request_id, OLD.state, NEW.state));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_ends AFTER UPDATE OF state ON reservations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.state IN ('settled', 'released') AND NEW.state <> OLD.state
    AND NOT (OLD.settled_by = 'estimate' AND NEW.state = 'released'))
  EXECUTE FUNCTION simulation_watch_end();

-- Reports a delegated request that was admitted although a cap was reached. At the commit the windows have rolled.
CREATE FUNCTION simulation_watch_admission() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM accounts AS a JOIN plans AS p ON p.id = a.plan_id
      WHERE a.svc_user_id = NEW.svc_user_id
        AND ((a.week_start = NEW.week_start AND a.week_used_micros >= p.weekly_limit_micros)
          OR (a.month_start = NEW.month_start AND a.month_used_micros >= p.monthly_limit_micros)))
  THEN
    PERFORM simulation_report(format('%s was admitted at a reached cap', NEW.request_id));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_admissions AFTER INSERT ON reservations DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.kind = 'delegated' AND NEW.state = 'reserved') EXECUTE FUNCTION simulation_watch_admission();

-- Reports a budget whose use and holds grow beyond its limit. A limit that is lowered may lie below them.
CREATE FUNCTION simulation_watch_budget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM simulation_report(format('the budget of %s for %s is exceeded', NEW.svc_user_id, NEW.client_id));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_budgets AFTER UPDATE ON app_budgets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.limit_micros IS NOT DISTINCT FROM OLD.limit_micros AND NEW.window_start = OLD.window_start
    AND NEW.used_micros + NEW.held_micros + NEW.uncertain_micros > NEW.limit_micros
    AND NEW.used_micros + NEW.held_micros + NEW.uncertain_micros > OLD.used_micros + OLD.held_micros + OLD.uncertain_micros)
  EXECUTE FUNCTION simulation_watch_budget();

-- Reports an account whose places differ from its open requests, or that has more than two.
CREATE FUNCTION simulation_watch_places() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  reserved bigint;
  recorded bigint;
BEGIN
  IF NOT simulation_is_first_look('places ' || NEW.svc_user_id) THEN RETURN NULL; END IF;
  SELECT count(*) INTO reserved FROM reservations AS r
    WHERE r.state = 'reserved' AND r.kind = 'delegated' AND r.svc_user_id = NEW.svc_user_id;
  SELECT a.pending INTO recorded FROM accounts AS a WHERE a.svc_user_id = NEW.svc_user_id;
  IF coalesce(recorded, 0) <> reserved OR recorded > 2 THEN
    PERFORM simulation_report(format('%s has %s pending requests, recorded as %s', NEW.svc_user_id, reserved, recorded));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_account_places AFTER INSERT OR UPDATE OF pending ON accounts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_places();
CREATE CONSTRAINT TRIGGER simulation_request_places AFTER INSERT OR UPDATE OF state ON reservations
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind = 'delegated') EXECUTE FUNCTION simulation_watch_places();

-- Reports a wallet below zero or below its holds, or whose holds differ from those of its leases and uncertain requests. Only what a reversal at
-- the provider has taken back may be missing.
CREATE FUNCTION simulation_watch_wallet() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  held bigint;
  reversed bigint;
  w wallets%ROWTYPE;
BEGIN
  IF NOT simulation_is_first_look('wallet ' || NEW.svc_user_id) THEN RETURN NULL; END IF;
  SELECT coalesce(sum(l.granted_micros - l.returned_micros - l.settled_micros), 0) INTO held
    FROM leases AS l WHERE l.svc_user_id = NEW.svc_user_id;
  SELECT held + coalesce(sum(u.held_micros), 0) INTO held
    FROM uncertain_key_requests AS u WHERE u.svc_user_id = NEW.svc_user_id;
  SELECT * INTO w FROM wallets AS v WHERE v.svc_user_id = NEW.svc_user_id;
  SELECT coalesce(sum(v.amount_micros), 0) INTO reversed FROM payment_reversals AS v WHERE v.svc_user_id = NEW.svc_user_id;
  IF w.balance_micros + reversed < 0 OR w.held_micros < 0 OR w.held_micros > w.balance_micros + reversed
    OR coalesce(w.held_micros, 0) <> held
  THEN
    PERFORM simulation_report(format('wallet %s holds %s of %s, its leases %s', NEW.svc_user_id, w.held_micros,
      w.balance_micros, held));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_wallets AFTER INSERT OR UPDATE ON wallets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_wallet();
CREATE CONSTRAINT TRIGGER simulation_leases AFTER INSERT OR UPDATE ON leases
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_wallet();
CREATE CONSTRAINT TRIGGER simulation_uncertain AFTER INSERT ON uncertain_key_requests
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_wallet();

-- Reports a key whose use and leases exceed its monthly limit, while that stays the same.
CREATE FUNCTION simulation_watch_key() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  k key_budgets%ROWTYPE;
  held bigint;
BEGIN
  SELECT * INTO k FROM key_budgets AS b WHERE b.key_id = NEW.key_id;
  held := key_held_micros(k.svc_user_id, k.key_id, k.month_start);
  IF k.month_used_micros + held > k.month_limit_micros THEN
    PERFORM simulation_report(format('the key %s has used %s and holds %s of %s', k.key_id, k.month_used_micros, held,
      k.month_limit_micros));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_keys AFTER INSERT OR UPDATE ON leases
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_key();

-- Reports a posting whose changes of books do not add up to zero.
CREATE FUNCTION simulation_watch_posting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT sum(e.amount_micros) FROM ledger_entries AS e WHERE e.posting_id = NEW.id) IS DISTINCT FROM 0 THEN
    PERFORM simulation_report(format('posting %s is not balanced', NEW.id));
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_postings AFTER INSERT ON ledger_postings
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_posting();

-- Reports a fact whose version does not follow that of the fact before, among the facts of one aggregate and epoch.
CREATE TABLE simulation_versions (aggregate text PRIMARY KEY, epoch uuid NOT NULL, version bigint NOT NULL);
CREATE FUNCTION simulation_watch_version() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  before simulation_versions%ROWTYPE;
BEGIN
  SELECT * INTO before FROM simulation_versions AS v WHERE v.aggregate = NEW.aggregate;
  IF before.epoch = NEW.epoch AND before.version + 1 <> NEW.version THEN
    PERFORM simulation_report(format('%s went from version %s to %s', NEW.aggregate, before.version, NEW.version));
  END IF;
  INSERT INTO simulation_versions VALUES (NEW.aggregate, NEW.epoch, NEW.version)
    ON CONFLICT (aggregate) DO UPDATE SET epoch = excluded.epoch, version = excluded.version;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_outbox_versions AFTER INSERT ON outbox
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION simulation_watch_version();

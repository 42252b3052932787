-- Forgets the first delivery of each event, and changes the event's id in the body before the second.
CREATE FUNCTION simulation_plant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE events AS e SET status = 'queued', delivered_at = NULL,
      body = convert_to(replace(convert_from(e.body, 'UTF8'), e.event_id, e.event_id || '2'), 'UTF8')
    WHERE e.owner_id = NEW.owner_id AND e.sequence = OLD.done_sequence + 1
      AND position(e.event_id || '2' IN convert_from(e.body, 'UTF8')) = 0;
  IF FOUND THEN
    UPDATE lanes AS l SET done_sequence = OLD.done_sequence, due_at = now(), leased_until = NULL
      WHERE l.owner_id = NEW.owner_id;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER simulation_plant AFTER UPDATE ON lanes DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.done_sequence > OLD.done_sequence) EXECUTE FUNCTION simulation_plant();

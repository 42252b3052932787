-- Copies a version that a replica of the previous release has recorded. The next release drops this function.
CREATE OR REPLACE FUNCTION mirror_to_inbox_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO inbox_versions AS known (consumer, aggregate, version)
    VALUES ('webhook-dispatcher_connections', NEW.aggregate, NEW.version)
    ON CONFLICT (consumer, aggregate) DO UPDATE SET version = excluded.version
    WHERE known.version < excluded.version;
  RETURN NULL;
END
$$;

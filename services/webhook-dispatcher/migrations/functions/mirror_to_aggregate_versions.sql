-- Copies a version for the replicas of the previous release. The next release drops this function.
CREATE OR REPLACE FUNCTION mirror_to_aggregate_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO aggregate_versions AS known (aggregate, version) VALUES (NEW.aggregate, NEW.version)
    ON CONFLICT (aggregate) DO UPDATE SET version = excluded.version
    WHERE known.version < excluded.version;
  RETURN NULL;
END
$$;

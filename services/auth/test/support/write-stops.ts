import { waitFor } from '@svc/testing';
import type { Knex } from 'knex';

/** Which write the service is to be stopped before; what a stopped write becomes once its process is dead. */
export type Fate = 'lost' | 'lands';

/** Stops the service's own writes one by one, however they come about: statements, and the commit of a transaction. */
export interface WriteStops {
  /** From now on the n-th write waits; undefined lets all of them pass. */
  readonly arm: (n: number | undefined) => Promise<void>;
  /** Lists what has passed since `arm(undefined)`, in order: the table and operation of each write, and commits. */
  readonly passed: () => Promise<string[]>;
  /** Returns true if a write waits. */
  readonly isReached: () => Promise<boolean>;
  /** Ends the wait: the write is lost with its connection, or goes on though its caller is gone. */
  readonly release: (fate: Fate) => Promise<void>;
}

const LOCK = 4_242;
/** Not the relay's: it is another connection, and its writes are not the request's. */
const SERVICE = 'svc-auth';

/** Old rows are deleted every minute: an age and a limit are the mark of these statements alone. */
const HOUSEKEEPING = String.raw`<\s*(\$|now\(\)).*\mlimit\M`;

const FUNCTIONS = `
CREATE SCHEMA stops;
CREATE SEQUENCE stops.writes;
CREATE TABLE stops.plan (stop_at bigint);
INSERT INTO stops.plan VALUES (NULL);
CREATE TABLE stops.passed (n bigint, point text);

-- A sequence does not roll back: it counts what was tried.
CREATE FUNCTION stops.pass(p_point text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_n bigint := nextval('stops.writes');
  v_stop_at bigint := (SELECT stop_at FROM stops.plan);
BEGIN
  IF v_stop_at IS NULL THEN
    INSERT INTO stops.passed VALUES (v_n, p_point);
  ELSIF v_n = v_stop_at THEN
    PERFORM pg_advisory_xact_lock_shared(${LOCK});
  END IF;
END $$;

CREATE FUNCTION stops.at_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') = '${SERVICE}' AND current_query() !~* '${HOUSEKEEPING}' THEN
    PERFORM stops.pass(TG_TABLE_NAME || ' ' || TG_OP);
  END IF;
  RETURN NULL;
END $$;

-- Deferred to the commit, where the first row of a transaction stands for all.
CREATE FUNCTION stops.at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('application_name') = '${SERVICE}' AND coalesce(current_setting('stops.passed', true), '') <> 'yes' THEN
    PERFORM set_config('stops.passed', 'yes', true);
    PERFORM stops.pass('commit');
  END IF;
  RETURN NULL;
END $$;
`;

/** Puts the stops into a database, at every table. */
export const putWriteStops = async (database: Knex): Promise<WriteStops> => {
  await database.raw(FUNCTIONS);
  const tables: { tablename: string }[] = await database('pg_tables')
    .where({ schemaname: 'public' })
    .whereNot('tablename', 'like', 'knex%')
    .select('tablename');
  for (const { tablename } of tables) {
    // The mailer updates mails in the background, apart from what a request writes.
    const operations = tablename === 'mails' ? 'INSERT' : 'INSERT OR UPDATE OR DELETE';
    await database.raw(
      `CREATE TRIGGER stop BEFORE ${operations} ON public.?? FOR EACH STATEMENT EXECUTE FUNCTION stops.at_write()`,
      [tablename],
    );
    await database.raw(
      `CREATE CONSTRAINT TRIGGER stop_at_commit AFTER ${operations} ON public.??
       DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stops.at_commit()`,
      [tablename],
    );
  }
  let holder: Knex.Transaction | undefined;
  const waiting = (): Knex.QueryBuilder =>
    database('pg_locks')
      .where({ locktype: 'advisory', objid: LOCK, granted: false })
      .whereRaw('database = (SELECT oid FROM pg_database WHERE datname = current_database())');
  const letGo = async (): Promise<void> => {
    await holder?.commit();
    holder = undefined;
  };
  return {
    arm: async (n) => {
      await letGo();
      await database('stops.plan').update({ stop_at: n ?? null });
      await database('stops.passed').truncate();
      await database.raw(`SELECT setval('stops.writes', 1, false)`);
      if (n === undefined) return;
      holder = await database.transaction();
      await holder.raw('SELECT pg_advisory_xact_lock(?)', [LOCK]);
    },
    passed: async () => {
      const counted = await database('stops.writes').first<{ last_value: string; is_called: boolean }>();
      const rows: { n: string; point: string }[] = await database('stops.passed').select('n', 'point');
      const points = new Map(rows.map(({ n, point }) => [Number(n), point]));
      const length = counted.is_called ? Number(counted.last_value) : 0;
      return Array.from({ length }, (_, index) => points.get(index + 1) ?? 'rolled back');
    },
    isReached: async () => (await waiting().select('pid')).length > 0,
    release: async (fate) => {
      if (fate === 'lost') await waiting().select(database.raw('pg_terminate_backend(pid)'));
      await letGo();
      // Everything that the dead process had begun has ended one way or the other.
      const left = () =>
        database('pg_stat_activity')
          .whereIn('application_name', [SERVICE, 'auth-relay'])
          .whereRaw('datname = current_database()');
      await waitFor(async () => (await left().select('pid')).length === 0);
    },
  };
};

import { execFileSync } from 'node:child_process';
import { openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '@svc/database';
import { scratchDirectory, startPostgres } from '@svc/testing/servers';
import pg from 'pg';
import type { ServerAddress } from './stepped-connection.ts';

const USER = 'simulation';
/** Read by PostgreSQL relative to its data directory. */
const CLOCK_FILE = 'simulation_clock';
const CLOCK_DIGITS = 17;

export type DatabaseName = 'billing' | 'inference-gateway' | 'webhook-dispatcher';
const DATABASES: readonly DatabaseName[] = ['billing', 'inference-gateway', 'webhook-dispatcher'];

/**
 * Every limit of real time is off, and so is all work that the server does by itself, in real time: the simulation decides
 * when a wait is too long, and rows must go to the same pages in each run. A backend says that it waits for a lock, and finds
 * deadlocks, after 1 ms, the shortest time that PostgreSQL allows.
 */
const FLAGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '120',
  shared_buffers: '48MB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1d',
  bgwriter_lru_maxpages: '0',
  autovacuum: 'off',
  io_method: 'sync',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  max_parallel_workers_per_gather: '0',
  synchronize_seqscans: 'off',
  track_counts: 'off',
  update_process_title: 'off',
  deadlock_timeout: '1ms',
  log_lock_waits: 'on',
  client_min_messages: 'log',
  log_min_messages: 'fatal',
  unix_socket_directories: '.',
} as const;

/** Functions that hide those of the system, because `public` comes first in the search path. */
const CLOCK_FUNCTIONS = `
  CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.to_timestamp(pg_catalog.pg_read_file('${CLOCK_FILE}')::float8 / 1000) $$;
  CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
    DECLARE started text := current_setting('simulation.transaction_start', true);
    BEGIN
      IF coalesce(started, '') = '' THEN
        started := pg_catalog.pg_read_file('${CLOCK_FILE}');
        PERFORM set_config('simulation.transaction_start', started, true);
      END IF;
      RETURN pg_catalog.to_timestamp(started::float8 / 1000);
    END $$;
  CREATE SEQUENCE public.simulation_uuids;
  CREATE FUNCTION public.uuidv7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex(pg_catalog.pg_read_file('${CLOCK_FILE}')::float8::bigint), 12, '0') || '7'
      || substr(md5(nextval('public.simulation_uuids')::text), 1, 3) || 'a'
      || substr(md5(nextval('public.simulation_uuids')::text), 1, 15))::uuid $$;`;

/** A PostgreSQL whose clock is that of the simulation, with the migrated database of each service. */
export interface SimulatedServer {
  readonly address: ServerAddress;
  /** Process id of the postmaster, whose children are the backends. */
  readonly pid: number;
  readonly url: (databaseName: string) => string;
  /** Opens a connection that no process of the simulation uses. */
  readonly connect: (databaseName: string) => Promise<pg.Client>;
  /** Sets the time of the databases. */
  readonly setClock: (nowMs: number) => void;
  readonly scratchPath: (name: string) => string;
  readonly stop: () => Promise<void>;
}

export interface SimulatedServerOptions {
  readonly firstEpoch: string;
  /** Data directory of a stopped server to begin from, which saves the migrations. */
  readonly template?: string | undefined;
}

/** Creates a data directory with the migrated databases, for many servers to begin from. */
export const createServerTemplate = async (dataDir: string, firstEpoch: string): Promise<void> => {
  const server = await startPostgres({ dataDir, user: USER, password: USER, flags: FLAGS });
  try {
    await prepareCluster(dataDir, server.url, firstEpoch);
  } finally {
    await server.stop();
  }
};

/** Starts the server, and creates its databases unless they come with the template. Must be called before the globals are replaced. */
export const startSimulatedServer = async ({
  firstEpoch,
  template,
}: SimulatedServerOptions): Promise<SimulatedServer> => {
  const scratch = await scratchDirectory();
  const dataDir = join(scratch.path, 'postgres');
  if (template !== undefined) execFileSync('cp', ['--archive', '--reflink=auto', template, dataDir]);
  const server = await startPostgres({ dataDir, user: USER, password: USER, flags: FLAGS });
  if (template === undefined) await prepareCluster(dataDir, server.url, firstEpoch);
  const clock = openSync(join(dataDir, CLOCK_FILE), 'r+');
  let written = '';
  return {
    address: { path: join(dataDir, `.s.PGSQL.${server.port}`) },
    pid: server.pid,
    url: (databaseName) => urlOf(server.url, databaseName),
    connect: (databaseName) => connect(urlOf(server.url, databaseName)),
    setClock: (nowMs) => {
      const text = clockText(nowMs);
      if (text !== written) writeSync(clock, text, 0, 'latin1');
      written = text;
    },
    scratchPath: (name) => join(scratch.path, name),
    stop: async () => {
      await server.stop();
      scratch.remove();
    },
  };
};

const clockText = (nowMs: number): string => nowMs.toFixed(3).padStart(CLOCK_DIGITS, '0');

const urlOf = (serverUrl: string, databaseName: string): string => serverUrl.replace(/postgres$/, databaseName);

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  // A connection that is lost fails the next query.
  client.on('error', () => undefined);
  await client.connect();
  return client;
};

const prepareCluster = async (dataDir: string, serverUrl: string, firstEpoch: string): Promise<void> => {
  // Password authentication computes in threads, which end in no particular order.
  writeFileSync(join(dataDir, 'pg_hba.conf'), 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
  writeFileSync(join(dataDir, CLOCK_FILE), clockText(Date.UTC(2031, 0, 1)), { mode: 0o644 });
  const admin = await connect(serverUrl);
  await admin.query('SELECT pg_reload_conf()');
  for (const name of DATABASES) await createServiceDatabase(admin, { name, url: urlOf(serverUrl, name), firstEpoch });
  await admin.end();
};

interface ServiceDatabase {
  readonly name: DatabaseName;
  readonly url: string;
  readonly firstEpoch: string;
}

const createServiceDatabase = async (admin: pg.Client, { name, url, firstEpoch }: ServiceDatabase): Promise<void> => {
  await admin.query(`CREATE DATABASE "${name}"`);
  await admin.query(`ALTER DATABASE "${name}" SET search_path = public, pg_catalog`);
  const client = await connect(url);
  await client.query(CLOCK_FUNCTIONS);
  const directory = fileURLToPath(new URL(`../../../../services/${name}/migrations`, import.meta.url));
  await migrate({ url, directory });
  await client.query('UPDATE epochs SET epoch = $1', [firstEpoch]).catch(() => undefined);
  await dropLockTimeouts(client);
  await client.end();
};

/** Waits of functions for locks end by the clock of the simulation instead. */
const dropLockTimeouts = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query(
    `SELECT oid::regprocedure AS name FROM pg_proc WHERE EXISTS (
       SELECT FROM unnest(proconfig) AS setting WHERE setting LIKE 'lock_timeout=%')`,
  );
  for (const { name } of rows) await client.query(`ALTER FUNCTION ${name} RESET lock_timeout`);
};

/** A UUID of version 7 that is older than any of a run. */
export const FIRST_EPOCH = '01890000-0000-7000-8000-000000000001';

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseBackup, giveTo } from './base-backup.ts';
import { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';

const NAME = 'standby';
const SYNCHRONOUS_WITHIN_MS = 30_000;
const POLL_MS = 20;

export interface StandbyOptions extends Pick<PostgresOptions, 'dataDir' | 'user' | 'password' | 'port' | 'flags'> {
  readonly primary: Pick<PostgresServer, 'url'> & { readonly dataDir: string };
  /** Runs a statement as the primary's superuser, always in the same session: it alone can end the backup it began. */
  readonly query: (sql: string) => Promise<readonly object[]>;
}

/**
 * Starts a streaming standby from a base backup of a running primary. From then on every commit of the primary waits for the
 * standby. `SELECT pg_promote()` makes it the primary.
 */
export const startStandby = async (options: StandbyOptions): Promise<PostgresServer> => {
  const { primary, query, dataDir, flags, ...own } = options;
  await baseBackup({ from: primary.dataDir, to: dataDir, query });
  writeFileSync(join(dataDir, 'standby.signal'), '');
  giveTo(dataDir, statSync(primary.dataDir));
  const source = new URL(primary.url);
  source.searchParams.set('application_name', NAME);
  const server = await startPostgres({ ...own, dataDir, flags: { ...flags, primary_conninfo: source.href } });
  await query(`ALTER SYSTEM SET synchronous_standby_names = ${NAME}`);
  await query('SELECT pg_reload_conf()');
  const endsAt = performance.now() + SYNCHRONOUS_WITHIN_MS;
  while ((await query(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 0) {
    if (performance.now() > endsAt) throw new Error(`the standby does not follow: ${server.lastOutput()}`);
    await sleep(POLL_MS);
  }
  return server;
};

import { cpSync, lchownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';

const NAME = 'standby';
const SYNCHRONOUS_WITHIN_MS = 30_000;
const POLL_MS = 20;
/** Files of the running primary that are none of a copy's: its process, and WAL, which the standby streams. */
const NOT_COPIED = /^\/(?:postmaster\.(?:pid|opts)|pg_wal\/.+)$/;

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
  await query(`SELECT pg_backup_start('${NAME}', fast => true)`);
  copyCluster(primary.dataDir, dataDir);
  const [label] = await query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
  writeFileSync(join(dataDir, 'backup_label'), String(Reflect.get(label ?? {}, 'labelfile')));
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

const copyCluster = (from: string, to: string): void => {
  mkdirSync(to, { mode: 0o700 });
  cpSync(from, to, { recursive: true, filter: (path) => !NOT_COPIED.test(path.slice(from.length)) });
};

const giveTo = (path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void => {
  lchownSync(path, uid, gid);
  for (const name of readdirSync(path, { recursive: true })) lchownSync(join(path, String(name)), uid, gid);
};

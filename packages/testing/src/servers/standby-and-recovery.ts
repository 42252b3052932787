import { cpSync, lchownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';

const LABEL = 'copy';
/** Files of the running server that are none of a copy's: its process, and WAL, which the copy gets elsewhere. */
const NOT_COPIED = /^\/(?:postmaster\.(?:pid|opts)|pg_wal\/.+)$/;

export interface BaseBackupOptions {
  /** Data directory of the running server. */
  readonly from: string;
  readonly to: string;
  /** Runs a statement as the server's superuser, always in the same session: it alone can end the backup it began. */
  readonly query: (sql: string) => Promise<readonly object[]>;
}

/** Copies the data directory of a running PostgreSQL. The copy needs the WAL since the beginning of the backup to start. */
export const baseBackup = async ({ from, to, query }: BaseBackupOptions): Promise<void> => {
  await query(`SELECT pg_backup_start('${LABEL}', fast => true)`);
  mkdirSync(to, { mode: 0o700 });
  cpSync(from, to, { recursive: true, filter: (path) => !NOT_COPIED.test(path.slice(from.length)) });
  const [label] = await query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
  writeFileSync(join(to, 'backup_label'), String(Reflect.get(label ?? {}, 'labelfile')));
  giveTo(to, statSync(from));
};

/** Gives a data directory to the account that runs its server. */
const giveTo = (path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void => {
  lchownSync(path, uid, gid);
  for (const name of readdirSync(path, { recursive: true })) lchownSync(join(path, String(name)), uid, gid);
};

const RECOVERED_WITHIN_MS = 120_000;
const REPLAY_POLL_MS = 50;

export interface RecoveryOptions extends PostgresOptions {
  /** Folder of a base backup, which stays as it is. */
  readonly backup: string;
  /** Folder of archived WAL. */
  readonly archive: string;
  readonly to: Date;
  readonly query: (server: PostgresServer, sql: string) => Promise<readonly object[]>;
}

/** Restores a base backup to a moment (point-in-time recovery), and waits until the server takes writes. */
export const startRecovered = async (options: RecoveryOptions): Promise<PostgresServer> => {
  const { backup, archive, to, query, ...own } = options;
  mkdirSync(own.dataDir, { mode: 0o700 });
  cpSync(backup, own.dataDir, { recursive: true });
  writeFileSync(join(own.dataDir, 'recovery.signal'), '');
  giveTo(own.dataDir, statSync(backup));
  const recovery = {
    restore_command: `cp ${archive}/%f %p`,
    // Abbreviations of time zones, which a final Z is, are not accepted here.
    recovery_target_time: to.toISOString().replace('Z', '+00'),
    recovery_target_action: 'promote',
    // The archive belongs to the lost server.
    archive_mode: 'off',
  };
  const server = await startPostgres({ ...own, flags: { ...own.flags, ...recovery } });
  const endsAt = performance.now() + RECOVERED_WITHIN_MS;
  while (Reflect.get((await query(server, 'SELECT pg_is_in_recovery() AS it'))[0] ?? {}, 'it') !== false) {
    if (performance.now() > endsAt) throw new Error(`the server does not recover: ${server.lastOutput()}`);
    await sleep(REPLAY_POLL_MS);
  }
  return server;
};

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

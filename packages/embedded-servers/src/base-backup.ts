import { cpSync, lchownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
export const giveTo = (path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void => {
  lchownSync(path, uid, gid);
  for (const name of readdirSync(path, { recursive: true })) lchownSync(join(path, String(name)), uid, gid);
};

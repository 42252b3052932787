import { closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Exclusive access to the files of one process. */
export interface JournalLock {
  readonly release: () => void;
}

const OWNER_ONLY = 0o600;

/**
 * Creates a file and locks it until it is released or this process dies. Returns undefined while another process holds the
 * lock, or if another one has deleted the file meanwhile, since the lock of a deleted file excludes no process. Node.js has no
 * file locks, so this locks an empty SQLite database: SQLite takes the operating system's advisory lock, which ends with its
 * process. It needs neither a process id, which can be reused, nor a lease, which can expire.
 */
export const lockJournal = (file: string): JournalLock | undefined => {
  // SQLite would create the file readable for other users.
  closeSync(openSync(file, 'a', OWNER_ONLY));
  const inode = inodeOf(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is ever written, so a rollback journal on disk is not needed.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch {
    database.close();
    return undefined;
  }
  if (inode === undefined || inodeOf(file) !== inode) {
    database.close();
    return undefined;
  }
  return { release: () => database.close() };
};

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

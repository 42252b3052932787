import { DatabaseSync } from 'node:sqlite';

/** Exclusive access to the files of one process. */
export interface JournalLock {
  readonly release: () => void;
}

/**
 * Locks a file until it is released or this process dies. Returns undefined while another process holds the lock. Node.js
 * has no file locks, so this locks an empty SQLite database: SQLite takes the operating system's advisory lock, which ends
 * with its process. It needs neither a process id, which can be reused, nor a lease, which can expire.
 */
export const lockJournal = (file: string): JournalLock | undefined => {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is ever written, so a rollback journal on disk is not needed.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch {
    database.close();
    return undefined;
  }
  return { release: () => database.close() };
};

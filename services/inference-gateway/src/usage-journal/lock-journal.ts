import { DatabaseSync } from 'node:sqlite';

/** Exclusive right to the files of one process. */
export interface JournalLock {
  readonly release: () => void;
}

/**
 * Locks a file until it is released or this process dies. Returns undefined while another process holds the lock. Node.js offers
 * no file locks itself, so an empty SQLite database carries one: SQLite takes the operating system's advisory lock, which ends
 * with its process and has neither a process id to be reused nor a lease to expire.
 */
export const lockJournal = (file: string): JournalLock | undefined => {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Nothing is ever written, so there is nothing to roll back either.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch {
    database.close();
    return undefined;
  }
  return { release: () => database.close() };
};

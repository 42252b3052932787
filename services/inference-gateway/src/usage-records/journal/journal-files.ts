import { closeSync, openSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A journal directory contains, for each process, a lock file and numbered segments. */
const FILE = /^([\w-]+)\.(?:lock|(\d+)\.jsonl)$/;

export const lockFile = (directory: string, owner: string): string => join(directory, `${owner}.lock`);

export const segmentFile = (directory: string, owner: string, number: number): string =>
  join(directory, `${owner}.${number}.jsonl`);

/** Lists the processes that have files in the directory. */
export const listOwners = async (directory: string): Promise<readonly string[]> => {
  const owners = (await readdir(directory)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  return [...new Set(owners)].sort();
};

/** Lists the segments of a process, oldest first. */
export const listSegments = async (directory: string, owner: string): Promise<readonly string[]> => {
  const numbers = (await readdir(directory)).flatMap((name) => {
    const [, fileOwner, number] = FILE.exec(name) ?? [];
    return fileOwner === owner && number !== undefined ? [Number(number)] : [];
  });
  return numbers.sort((one, other) => one - other).map((number) => segmentFile(directory, owner, number));
};

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

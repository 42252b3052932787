import { closeSync, openSync, statSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Logger, Metrics } from '@svc/service-kit';

/** A journal directory contains, for each process, a lock file and numbered segments. */
const FILE = /^([\w-]+)\.(?:lock|(\d+)\.jsonl)$/;

export const lockFile = (directory: string, owner: string): string => join(directory, `${owner}.lock`);

export const segmentFile = (directory: string, owner: string, number: number): string =>
  join(directory, `${owner}.${number}.jsonl`);

/** Lists the processes that have files in the directory. */
const listOwners = async (directory: string): Promise<readonly string[]> => {
  const owners = (await readdir(directory)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  return [...new Set(owners)].sort();
};

/** Lists the segments of a process, oldest first. */
const listSegments = async (directory: string, owner: string): Promise<readonly string[]> => {
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

/** Metrics of the own journal and of journals to take over. */
export interface JournalMeters {
  readonly failures: { readonly inc: () => void };
  readonly left: { readonly set: (count: number) => void };
}

export const createJournalMeters = (metrics: Metrics): JournalMeters => ({
  failures: metrics.counter({
    name: 'usage_journal_failures_total',
    help: 'Outcomes that could not be appended to the usage journal; a crash before they reach the database loses them.',
  }),
  left: metrics.gauge({
    name: 'usage_journals_left',
    help: 'Journals of dead processes that could not be replayed yet.',
  }),
});

interface TakeOverOptions {
  readonly directory: string;
  /** This process, whose own files are skipped. */
  readonly owner: string;
  /** Stores the lines of a journal, given by segment. Must be idempotent: a process may die before it deletes the segments. */
  readonly replay: (segments: readonly string[]) => Promise<void>;
  /** Stops the round. Journals that are not replayed yet are left for the next process. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly meters: JournalMeters;
}

/** Replays and deletes the journals of dead processes. Leaves those of live processes, and those that fail. */
export const takeOverJournals = async (options: TakeOverOptions): Promise<void> => {
  const { directory, owner: self, signal, logger, meters } = options;
  let left = 0;
  for (const owner of await listOwners(directory)) {
    if (owner === self || signal.aborted) continue;
    await takeOver(options, owner).catch((error: unknown) => {
      if (signal.aborted) return;
      left += 1;
      logger.error({ err: error, name: owner }, 'the usage journal of a dead process could not be replayed');
    });
  }
  meters.left.set(left);
};

/** Takes over a journal under its lock, which proves that the owner is dead and excludes other successors. */
const takeOver = async ({ directory, replay, logger }: TakeOverOptions, owner: string): Promise<void> => {
  const lock = lockJournal(lockFile(directory, owner));
  if (lock === undefined) return;
  try {
    const segments = await listSegments(directory, owner);
    // Together, because the last line of a request counts.
    const texts: string[] = [];
    for (const file of segments) texts.push(await readFile(file, 'utf8'));
    await replay(texts);
    for (const file of segments) await rm(file);
    await rm(lockFile(directory, owner), { force: true });
    logger.info({ name: owner, count: segments.length }, 'the usage journal of a dead process was replayed');
  } finally {
    lock.release();
  }
};

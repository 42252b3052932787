import { readFile, rm } from 'node:fs/promises';
import type { Logger } from '@svc/service-kit';
import { listOwners, listSegments, lockFile, lockJournal } from './journal-files.ts';
import type { JournalMeters } from './open-journal.ts';

export interface TakeOverOptions {
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

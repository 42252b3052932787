import { readFile, rm } from 'node:fs/promises';
import type { Logger } from '@svc/service-kit';
import { listOwners, listSegments, lockFile } from './journal-files.ts';
import type { JournalMeters } from './journal-meters.ts';
import { lockJournal } from './lock-journal.ts';

export interface TakeOverOptions {
  readonly directory: string;
  /** This process, whose own files stay. */
  readonly owner: string;
  /** Makes the lines of a segment safe elsewhere; repeatable, as a process may die before the segment is deleted. */
  readonly replay: (text: string) => Promise<void>;
  /** Ends the round: what is not replayed yet stays for the next process. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly meters: JournalMeters;
}

/** Replays the journals of dead processes and deletes them. Those of live ones, and those that fail, stay as they are. */
export const takeOverJournals = async (options: TakeOverOptions): Promise<void> => {
  const { directory, owner: self, signal, logger, meters } = options;
  let left = 0;
  for (const owner of await listOwners(directory)) {
    if (owner === self || signal.aborted) continue;
    await takeOver(options, owner).catch((error: unknown) => {
      if (signal.aborted) return;
      left += 1;
      logger.error({ err: error, name: owner }, 'the usage journal of a dead process was not replayed');
    });
  }
  meters.left.set(left);
};

/** The lock makes this process the only successor, and tells that the owner is dead. */
const takeOver = async ({ directory, replay, logger }: TakeOverOptions, owner: string): Promise<void> => {
  const lock = lockJournal(lockFile(directory, owner));
  if (lock === undefined) return;
  try {
    const segments = await listSegments(directory, owner);
    for (const file of segments) {
      await replay(await readFile(file, 'utf8'));
      await rm(file);
    }
    await rm(lockFile(directory, owner), { force: true });
    logger.info({ name: owner, count: segments.length }, 'the usage journal of a dead process was replayed');
  } finally {
    lock.release();
  }
};

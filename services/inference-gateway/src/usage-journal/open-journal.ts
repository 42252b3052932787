import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Logger } from '@svc/service-kit';
import { lockFile, segmentFile } from './journal-files.ts';
import type { JournalMeters } from './journal-meters.ts';
import { type JournalLock, lockJournal } from './lock-journal.ts';
import { type JournalEntry, openSegment, type Segment } from './open-segment.ts';

/** Append-only files of this process that survive its crash. */
export interface Journal {
  /** Appends a line, which then survives a crash of this process. Returns undefined if it could not be written. */
  readonly append: (line: string) => JournalEntry | undefined;
  /** Deletes the files if all lines are released, and unlocks the rest for a successor. */
  readonly close: () => void;
}

export interface JournalOptions {
  readonly directory: string;
  /** Unique prefix of the files of this process. */
  readonly owner: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly meters: JournalMeters;
}

/** Delay after a failure, so that a full disk does not slow down answers. */
const RETRY_MS = 1_000;
const OWNER_ONLY = { file: 0o600, directory: 0o700 };
const DISK_FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Opens the journal of this process. Lines are written without fsync: the page cache survives a crash of the process, and
 * a write to it costs microseconds. Throws if the directory is unusable; a full disk only makes appends fail.
 */
export const openJournal = (options: JournalOptions): Journal => {
  const { directory, owner, logger, meters } = options;
  const segments = new Set<Segment>();
  let lock = lockUnlessFull(options);
  let current: Segment | undefined;
  let segmentsOpened = 0;
  /** Milliseconds of the monotonic clock; 0 while appends succeed. */
  let retryAtMs = 0;

  const nextSegment = (): Segment => {
    lock ??= lockOwn(directory, owner);
    segmentsOpened += 1;
    const segment = openSegment(segmentFile(directory, owner, segmentsOpened), remove);
    segments.add(segment);
    return segment;
  };
  const remove = (segment: Segment): void => {
    segments.delete(segment);
    rm(segment.file).catch((error: unknown) => logger.warn({ err: error }, 'a usage journal segment was not deleted'));
  };
  const sealCurrent = (): void => {
    const sealed = current;
    current = undefined;
    sealed?.seal();
  };
  return {
    append: (line) => {
      if (performance.now() < retryAtMs) return void meters.failures.inc();
      try {
        current ??= nextSegment();
        current.append(line);
      } catch (error) {
        meters.failures.inc();
        if (retryAtMs === 0) reportFailure(logger, error);
        retryAtMs = performance.now() + RETRY_MS;
        // A torn line can only be the last one of a segment.
        sealCurrent();
        return undefined;
      }
      if (retryAtMs > 0) logger.info({}, 'the usage journal works again');
      retryAtMs = 0;
      const entry = current;
      if (entry.isFull()) sealCurrent();
      return entry;
    },
    close: () => {
      // Makes later appends fail.
      retryAtMs = Number.POSITIVE_INFINITY;
      const files = [...segments].map(({ file }) => file);
      const isReleased = [...segments].every((segment) => segment.isReleased());
      if (isReleased) for (const file of [...files, lockFile(directory, owner)]) rmSync(file, { force: true });
      lock?.release();
      lock = undefined;
    },
  };
};

const reportFailure = (logger: JournalOptions['logger'], error: unknown): void =>
  logger.error({ err: error }, 'outcomes cannot be appended to the usage journal');

const lockUnlessFull = ({ directory, owner, logger }: JournalOptions): JournalLock | undefined => {
  try {
    return lockOwn(directory, owner);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && DISK_FULL.has(error.code))) throw error;
    reportFailure(logger, error);
    return undefined;
  }
};

const lockOwn = (directory: string, owner: string): JournalLock => {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY.directory });
  const file = lockFile(directory, owner);
  // SQLite would create the file readable for other users.
  closeSync(openSync(file, 'a', OWNER_ONLY.file));
  const lock = lockJournal(file);
  if (lock === undefined) throw new Error('the lock of the usage journal is taken');
  return lock;
};

import { mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Logger } from '@svc/service-kit';
import { lockFile, segmentFile } from './journal-files.ts';
import type { JournalMeters } from './journal-meters.ts';
import { type JournalLock, lockJournal } from './lock-journal.ts';
import {
  createFile,
  createFileAhead,
  dropFile,
  type JournalEntry,
  type Segment,
  type SegmentFile,
  startSegment,
} from './open-segment.ts';

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
const LOCK_TRIES_MAX = 10;
const LOCK_RETRY_MS = 10;
const OWNER_ONLY = 0o700;
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
  let filesCreated = 0;
  /** The file of the next segment, created while the current one fills. */
  let spare: SegmentFile | undefined;
  let isCreatingSpare = false;
  let isClosed = false;
  /** Milliseconds of the monotonic clock; 0 while appends succeed. */
  let retryAtMs = 0;

  const nextFile = (): string => {
    filesCreated += 1;
    return segmentFile(directory, owner, filesCreated);
  };
  const nextSegment = (): Segment => {
    lock ??= lockOwn(directory, owner);
    const segment = startSegment(spare ?? createFile(nextFile()), remove);
    spare = undefined;
    segments.add(segment);
    return segment;
  };
  const askForSpare = (): void => {
    isCreatingSpare = true;
    createFileAhead(nextFile())
      .then(
        (created) => {
          if (isClosed) dropFile(created);
          else spare = created;
        },
        // The next segment creates its file itself, and reports why it cannot.
        () => {},
      )
      .finally(() => {
        isCreatingSpare = false;
      });
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
      if (entry.isHalfFull() && spare === undefined && !isCreatingSpare) askForSpare();
      if (entry.isFull()) sealCurrent();
      return entry;
    },
    close: () => {
      // Makes later appends fail.
      retryAtMs = Number.POSITIVE_INFINITY;
      isClosed = true;
      if (spare !== undefined) dropFile(spare);
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
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
  const file = lockFile(directory, owner);
  for (let tries = 0; tries < LOCK_TRIES_MAX; tries += 1) {
    const lock = lockJournal(file);
    if (lock !== undefined) return lock;
    // A successor may have found the file before it was locked. It deletes the file within milliseconds.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS);
  }
  throw new Error('the lock of the usage journal is taken');
};

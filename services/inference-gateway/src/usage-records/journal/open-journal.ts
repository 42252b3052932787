import { close, mkdirSync, open, openSync, rmSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Logger } from '@svc/service-kit';
import { type JournalLock, type JournalMeters, lockFile, lockJournal, segmentFile } from './journal-files.ts';

/** A journaled line. Its segment is deleted once all of its lines are released. */
export interface JournalEntry {
  /** Releases the line, once it is stored in the database. Must be called only once. */
  readonly release: () => void;
}

/** One file of a journal. Lines are appended to it until it is sealed. */
interface Segment extends JournalEntry {
  readonly file: string;
  /** Throws if not all of the line is written. */
  readonly append: (line: string) => void;
  readonly isHalfFull: () => boolean;
  readonly isFull: () => boolean;
  /** Returns true if all lines are released. */
  readonly isReleased: () => boolean;
  readonly seal: () => void;
}

/** About 400 outcomes. Limits how many released lines a successor has to read again. */
const SEGMENT_BYTES_MAX = 256 * 1024;
const OWNER_ONLY = 0o600;

/** A new file, open to append to. */
interface SegmentFile {
  readonly file: string;
  readonly fd: number;
}

const createFile = (file: string): SegmentFile => ({ file, fd: openSync(file, 'ax', OWNER_ONLY) });

/** Creates a file while the event loop goes on: on some disks that takes tens of milliseconds. */
const createFileAhead = async (file: string): Promise<SegmentFile> => ({
  file,
  fd: await promisify(open)(file, 'ax', OWNER_ONLY),
});

/** Deletes a file that no segment has used. */
const dropFile = ({ file, fd }: SegmentFile): void => {
  close(fd, () => {});
  rmSync(file, { force: true });
};

/** Starts a segment in a file. `onDone` is called once it is sealed and all of its lines are released. */
const startSegment = ({ file, fd }: SegmentFile, onDone: (segment: Segment) => void): Segment => {
  let bytes = 0;
  let unreleased = 0;
  let isSealed = false;
  const endIfDone = (): void => {
    if (isSealed && unreleased === 0) onDone(segment);
  };
  const segment: Segment = {
    file,
    append: (line) => {
      const text = `${line}\n`;
      const written = writeSync(fd, text);
      bytes += written;
      if (written < Buffer.byteLength(text)) throw new Error('a write to the usage journal was cut short');
      unreleased += 1;
    },
    release: () => {
      unreleased -= 1;
      endIfDone();
    },
    isHalfFull: () => bytes >= SEGMENT_BYTES_MAX / 2,
    isFull: () => bytes >= SEGMENT_BYTES_MAX,
    isReleased: () => unreleased === 0,
    seal: () => {
      isSealed = true;
      // Its lines are in the page cache, which needs no descriptor.
      close(fd, () => {});
      endIfDone();
    },
  };
  return segment;
};

/** Append-only files of this process that survive its crash. */
export interface Journal {
  /** Appends a line, which then survives a crash of this process. Returns undefined if it could not be written. */
  readonly append: (line: string) => JournalEntry | undefined;
  /** Deletes the files if all lines are released, and unlocks the rest for a successor. */
  readonly close: () => void;
}

interface JournalOptions {
  readonly directory: string;
  /** Unique prefix of the files of this process. */
  readonly owner: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly meters: JournalMeters;
}

/** Delay after a failure, so that a full disk does not slow down responses. */
const RETRY_MS = 1_000;
const LOCK_TRIES_MAX = 10;
const LOCK_RETRY_MS = 10;
const DIRECTORY_MODE = 0o700;
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
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  const file = lockFile(directory, owner);
  for (let tries = 0; tries < LOCK_TRIES_MAX; tries += 1) {
    const lock = lockJournal(file);
    if (lock !== undefined) return lock;
    // A successor may have found the file before it was locked. It deletes the file within milliseconds.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS);
  }
  throw new Error('the lock of the usage journal is taken');
};

import { close, open, openSync, rmSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

/** A journaled line. Its segment is deleted once all of its lines are released. */
export interface JournalEntry {
  /** Releases the line, once it is stored in the database. Must be called only once. */
  readonly release: () => void;
}

/** One file of a journal. Lines are appended to it until it is sealed. */
export interface Segment extends JournalEntry {
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
export interface SegmentFile {
  readonly file: string;
  readonly fd: number;
}

export const createFile = (file: string): SegmentFile => ({ file, fd: openSync(file, 'ax', OWNER_ONLY) });

/** Creates a file while the event loop goes on: on some disks that takes tens of milliseconds. */
export const createFileAhead = async (file: string): Promise<SegmentFile> => ({
  file,
  fd: await promisify(open)(file, 'ax', OWNER_ONLY),
});

/** Deletes a file that no segment has used. */
export const dropFile = ({ file, fd }: SegmentFile): void => {
  close(fd, () => {});
  rmSync(file, { force: true });
};

/** Starts a segment in a file. `onDone` is called once it is sealed and all of its lines are released. */
export const startSegment = ({ file, fd }: SegmentFile, onDone: (segment: Segment) => void): Segment => {
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

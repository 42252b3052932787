import { closeSync, openSync, writeSync } from 'node:fs';

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
  readonly isFull: () => boolean;
  /** Returns true if all lines are released. */
  readonly isReleased: () => boolean;
  readonly seal: () => void;
}

/** About 400 outcomes. Limits how many released lines a successor has to read again. */
const SEGMENT_BYTES_MAX = 256 * 1024;
const OWNER_ONLY = 0o600;

/** Creates a segment. `onDone` is called once it is sealed and all of its lines are released. */
export const openSegment = (file: string, onDone: (segment: Segment) => void): Segment => {
  const fd = openSync(file, 'ax', OWNER_ONLY);
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
    isFull: () => bytes >= SEGMENT_BYTES_MAX,
    isReleased: () => unreleased === 0,
    seal: () => {
      isSealed = true;
      closeSync(fd);
      endIfDone();
    },
  };
  return segment;
};

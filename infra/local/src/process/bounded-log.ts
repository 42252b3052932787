import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const LOG_BYTES_MAX = 8 * 1024 * 1024;

/** A log file of bounded size. A full one becomes `<path>.1` and replaces the one before. */
export interface BoundedLog {
  readonly path: string;
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/** Opens a log for appending, readable by its owner only. */
export const openLog = (path: string, bytesMax: number = LOG_BYTES_MAX): BoundedLog => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file: number | undefined = openSync(path, 'a', 0o600);
  let bytes = fstatSync(file).size;
  const rotate = (full: number): number => {
    // If the disk is full, the old file goes on for as long again.
    bytes = 0;
    if (existsSync(path)) renameSync(path, `${path}.1`);
    const next = openSync(path, 'a', 0o600);
    closeSync(full);
    return next;
  };
  return {
    path,
    write: (text) => {
      try {
        if (file === undefined) return;
        if (bytes >= bytesMax) file = rotate(file);
        bytes += writeSync(file, text);
      } catch {
        // A full disk costs lines of the log, and must not stop the processes that write them.
      }
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

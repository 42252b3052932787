import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const LOG_BYTES_MAX = 8 * 1024 * 1024;

/** A log file that keeps at most two pieces of bounded size: the current one, and the one before as `.1`. */
export interface BoundedLog {
  path: string;
  write: (text: string | Uint8Array) => void;
  /** The last lines written, for a message to a person. */
  lastLines: (count: number) => string[];
  close: () => void;
}

/** Opens a log for appending; only its owner can read it. */
export const openLog = (path: string, bytesMax: number = LOG_BYTES_MAX): BoundedLog => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file: number | undefined = openSync(path, 'a', 0o600);
  let bytes = fstatSync(file).size;
  return {
    path,
    write: (text) => {
      if (file === undefined) return;
      if (bytes >= bytesMax) {
        closeSync(file);
        renameSync(path, `${path}.1`);
        file = openSync(path, 'a', 0o600);
        bytes = 0;
      }
      bytes += typeof text === 'string' ? writeSync(file, text) : writeSync(file, text);
    },
    lastLines: (count) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count),
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';

/**
 * Replaces the functions that the services use on files by ones that work at once. Those of Node.js work in threads, whose
 * order belongs to the machine. Must be followed by `syncBuiltinESMExports`.
 */
export const replaceFiles = (): void => {
  const replacements = {
    readdir: atOnce(readdirSync),
    readFile: atOnce(readFileSync),
    rm: atOnce(rmSync),
  };
  // The arguments and results are those of the functions that they replace.
  Object.assign(files, replacements);
};

/** Turns a synchronous function into one that returns a promise. */
const atOnce =
  <A extends unknown[], R>(work: (...args: A) => R) =>
  async (...args: A): Promise<R> =>
    work(...args);

import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step, so that a reader never sees a part of it. Only its owner can read it. */
export const writeFileAtomically = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
};

/** Returns the JSON of a file, or undefined if it is missing or malformed. */
export const readJsonFile = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

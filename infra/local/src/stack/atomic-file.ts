import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: a reader sees the old text or the new, never a part. Only its owner can read it. */
export const writeFileAtomically = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
};

/** The JSON of a file; undefined where there is none or it is not JSON. */
export const readJsonFile = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

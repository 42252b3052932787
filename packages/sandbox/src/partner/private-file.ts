import { mkdirSync, renameSync, writeFileSync } from 'node:fs';

/** Creates a folder that only its owner can enter. */
export const makePrivateFolder = (path: string): void => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
};

/** Replaces a file atomically. Only its owner can read it. */
export const writePrivateFile = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
};

import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';

const HOME = 'svc-embedded-servers';
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Copies a directory tree to a place below `parent` where every account can read and execute it and only root can change
 * it, and returns its path. A complete copy from an earlier run is used again. Throws if another user could tamper with it.
 */
export const makePublicCopy = async (source: string, parent: string): Promise<string> => {
  const home = join(parent, HOME);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  refuseTampering(parent, STICKY);
  refuseTampering(home, 0);
  chmodSync(home, 0o755);
  const files = listFiles(source);
  const copy = join(home, hash('sha256', files, 'hex').slice(0, 16));
  if (listFiles(copy) === files) return copy;
  const draft = mkdtempSync(`${copy}.`);
  try {
    await cp(source, draft, { recursive: true, verbatimSymlinks: true });
    openToAll(draft);
    publish(draft, copy, files);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return copy;
};

/** Moves a draft to its place, unless another process has published a complete copy in the meantime. */
const publish = (draft: string, copy: string, files: string): void => {
  try {
    renameSync(draft, copy);
  } catch {
    if (listFiles(copy) === files) return;
    rmSync(copy, { recursive: true, force: true });
    renameSync(draft, copy);
  }
};

/** Throws unless root owns the directory and is the only user who may replace its entries. */
const refuseTampering = (path: string, allowed: number): void => {
  const stats = lstatSync(path);
  const isSafe = (stats.mode & WRITABLE_BY_OTHERS) === 0 || (stats.mode & allowed) !== 0;
  if (!stats.isDirectory() || stats.uid !== 0 || !isSafe) throw new Error(`${path} is not a directory of root alone`);
};

/** Lists names, sizes and link targets, one line each, so that an incomplete copy is noticed. */
const listFiles = (root: string): string => {
  const stats = lstatSync(root, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const detail = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? lstatSync(path).size : '';
      return `${relative(root, path)} ${detail}\n`;
    })
    .sort()
    .join('');
};

/** Sets modes that do not depend on the umask with which the source was installed. */
const openToAll = (root: string): void => {
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const isExecutable = entry.isDirectory() || (lstatSync(path).mode & 0o100) !== 0;
    chmodSync(path, isExecutable ? 0o755 : 0o644);
  }
};

import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './binaries.ts';
import { StartError } from './errors.ts';
import type { ServerAccount } from './server-account.ts';

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

const run = promisify(execFile);
/** A cold start loads 40 MB of libraries, perhaps from a network disk. */
const VERSION_TIMEOUT_MS = 120_000;
/** System directories that every account can enter, best first. */
const COPY_PARENTS = ['/var/cache', '/var/tmp', '/tmp'];

export interface PostgresPrograms extends PostgresBinaries {
  readonly majorVersion: string;
}

/**
 * Checks that `account` can run PostgreSQL at its installed location. A clone below a directory that only root may
 * enter, or a strict umask, prevents it; then it runs from a copy in a system directory. Throws StartError.
 */
export const preparePrograms = async (
  binaries: PostgresBinaries,
  account: ServerAccount | undefined,
): Promise<PostgresPrograms> => {
  const failures: string[] = [];
  for (const locate of [async () => binaries, ...(account === undefined ? [] : copiesOf(binaries))]) {
    try {
      const programs = await locate();
      return { ...programs, majorVersion: await readMajorVersion(programs, account) };
    } catch (error) {
      failures.push(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error));
    }
  }
  if (account === undefined) {
    throw new StartError(`PostgreSQL cannot be executed (${failures[0]}). Install it again: npx pnpm install --force`);
  }
  throw new StartError(
    `PostgreSQL does not run as root, and user ${account.name} can execute it neither where it is installed nor from a ` +
      `copy in ${COPY_PARENTS.join(', ')} (${failures.join('; ')}). Run as another user.`,
  );
};

const copiesOf = ({ postgres, initdb }: PostgresBinaries): (() => Promise<PostgresBinaries>)[] =>
  COPY_PARENTS.map((parent) => async () => {
    const bin = join(await makePublicCopy(dirname(dirname(postgres)), parent), 'bin');
    return { postgres: join(bin, basename(postgres)), initdb: join(bin, basename(initdb)) };
  });

const readMajorVersion = async (
  { postgres }: PostgresBinaries,
  account: ServerAccount | undefined,
): Promise<string> => {
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  const { stdout } = await run(postgres, ['--version'], { ...identity, cwd: '/', timeout: VERSION_TIMEOUT_MS });
  return /(\d+)[.\w]*\s*$/.exec(stdout.trim())?.[1] ?? '';
};

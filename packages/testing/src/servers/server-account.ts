import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { StartError } from './errors.ts';

/** The account that PostgreSQL runs as when it is started by root. */
export interface ServerAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts without rights that most systems have, in order of preference. */
const CANDIDATES = ['postgres', 'nobody'];

/**
 * Chooses an account for PostgreSQL, which refuses to run as root: the owner of an existing data directory, otherwise a
 * system account. Returns undefined if this process is not root, and PostgreSQL can run as the same user.
 */
export const chooseAccount = (dataDir: string): ServerAccount | undefined => {
  const current = process.getuid?.();
  if (current === 0) return ownerOf(dataDir) ?? systemAccount();
  if (current !== undefined) refuseForeignDirectory(dataDir, current);
  return undefined;
};

const refuseForeignDirectory = (dataDir: string, current: number): void => {
  const uid = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? current;
  if (uid === current) return;
  throw new StartError(
    `${dataDir} belongs to another user (uid ${uid}): it was probably created by root. ` +
      'Run as that user or as root, or choose another data directory.',
  );
};

const ownerOf = (dataDir: string): ServerAccount | undefined => {
  if (!existsSync(dataDir)) return undefined;
  const { uid, gid } = statSync(dataDir);
  return uid === 0 ? undefined : { name: `with uid ${uid}`, uid, gid };
};

const systemAccount = (): ServerAccount => {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of CANDIDATES) {
    const fields = accounts.find((account) => account[0] === name);
    if (fields === undefined) continue;
    // A negative id, as macOS has for `nobody`, is the same number modulo 2^32.
    return { name, uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 };
  }
  throw new StartError(
    `PostgreSQL does not run as root, and this system has no user ${CANDIDATES.join(' or ')}. Run as another user.`,
  );
};

const OWN_DESCRIPTORS = '/proc/self/fd';
const CHILD_DESCRIPTOR = 3;

/** A directory that a process of another account can enter, although its parents may be closed to that account. */
interface DirectoryHandle {
  /** Path for this process. */
  readonly path: string;
  /** Path for a child that gets `descriptors`. */
  readonly childPath: string;
  readonly descriptors: readonly number[];
  readonly close: () => void;
}

/**
 * Opens a directory for a process of `account`. A clone below /root has parents that only root may enter, so the child gets
 * the open directory and names it as /proc/self/fd/3, for which the kernel checks no parent (proc(5)). Elsewhere than on
 * Linux, and for our own account, the handle is the plain path.
 */
export const openDirectory = (path: string, account: ServerAccount | undefined, flags = 0): DirectoryHandle => {
  if (account === undefined || !existsSync(OWN_DESCRIPTORS)) {
    return { path, childPath: path, descriptors: [], close: () => undefined };
  }
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | flags);
  return {
    path: `${OWN_DESCRIPTORS}/${descriptor}`,
    childPath: `${OWN_DESCRIPTORS}/${CHILD_DESCRIPTOR}`,
    descriptors: [descriptor],
    close: () => closeSync(descriptor),
  };
};

/**
 * Creates a directory that belongs to `account`, and opens it. The owner changes through the open directory: someone who
 * may write to the parent could otherwise swap it for a link to any other directory in between.
 */
export const createDirectory = (path: string, account: ServerAccount | undefined): DirectoryHandle => {
  mkdirSync(path, { mode: 0o700 });
  const handle = openDirectory(path, account, constants.O_NOFOLLOW);
  if (account === undefined) return handle;
  const [descriptor] = handle.descriptors;
  if (descriptor === undefined) lchownSync(path, account.uid, account.gid);
  else fchownSync(descriptor, account.uid, account.gid);
  return handle;
};

import { closeSync, constants, existsSync, fchownSync, lchownSync, mkdirSync, openSync } from 'node:fs';
import type { ServerAccount } from './server-account.ts';

const OWN_DESCRIPTORS = '/proc/self/fd';
const CHILD_DESCRIPTOR = 3;

/** A directory that a process of another account can enter, although its parents may be closed to that account. */
export interface DirectoryHandle {
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

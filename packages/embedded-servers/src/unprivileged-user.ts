import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataDirectoryUnreachableError } from './errors.ts';

/** How to run a program that refuses to be root: as whom, and through which wrapper. */
export interface UnprivilegedRun {
  readonly identity: { readonly uid?: number; readonly gid?: number };
  /** Put before the program and its arguments. */
  readonly wrapper: readonly string[];
}

interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts that every system or most systems have, in order of preference. */
const CANDIDATES = ['postgres', 'nobody'];
const SETPRIV = '/usr/bin/setpriv';

/**
 * Not root: run as we are. Root: as the owner of an existing data directory, else as a system account without rights.
 * Where that account could not walk to the given paths (a checkout below /root), the program is started with the
 * one capability that lets it, by setpriv(1). Throws DataDirectoryUnreachableError when none of this is possible.
 */
export const chooseUnprivilegedRun = (dataDir: string, paths: readonly string[]): UnprivilegedRun => {
  const current = process.getuid?.();
  if (current !== 0) {
    refuseForeignDirectory(dataDir, current);
    return { identity: {}, wrapper: [] };
  }
  const user = ownerOf(dataDir) ?? systemAccount();
  if (paths.every((path) => isReachable(path, user))) {
    return { identity: { uid: user.uid, gid: user.gid }, wrapper: [] };
  }
  if (!existsSync(SETPRIV)) {
    throw new DataDirectoryUnreachableError(
      `PostgreSQL does not run as root, and the user ${user.name} cannot reach ${paths.join(' and ')}. ` +
        'Run as another user, or choose a data directory and a checkout that everybody may enter.',
    );
  }
  const capability = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
  return {
    identity: {},
    wrapper: [SETPRIV, '--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups', ...capability, '--'],
  };
};

/** The uid and gid that files of this run must belong to; undefined when we are not root. */
export const fileOwner = (dataDir: string): { uid: number; gid: number } | undefined => {
  return process.getuid?.() === 0 ? (ownerOf(dataDir) ?? systemAccount()) : undefined;
};

const refuseForeignDirectory = (dataDir: string, current: number | undefined): void => {
  if (current === undefined || !existsSync(dataDir)) return;
  const { uid } = statSync(dataDir);
  if (uid === current) return;
  throw new DataDirectoryUnreachableError(
    `${dataDir} belongs to another user (uid ${uid}): it was probably made by a run as root. ` +
      'Run as that user or as root, or choose another data directory.',
  );
};

const ownerOf = (dataDir: string): User | undefined => {
  if (!existsSync(dataDir)) return undefined;
  const { uid, gid } = statSync(dataDir);
  return uid === 0 ? undefined : { name: `with uid ${uid}`, uid, gid };
};

const systemAccount = (): User => {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of CANDIDATES) {
    const fields = accounts.find((account) => account[0] === name);
    if (fields === undefined) continue;
    // A negative id (as macOS writes nobody's) is the same number modulo 2^32.
    return { name, uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 };
  }
  throw new DataDirectoryUnreachableError(
    `PostgreSQL does not run as root, and this system has none of the users ${CANDIDATES.join(', ')}. Run as another user.`,
  );
};

const isReachable = (path: string, user: User): boolean => {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if (!maySearch(directory, user)) return false;
    if (directory === dirname(directory)) return true;
  }
};

const maySearch = (directory: string, user: User): boolean => {
  if (!existsSync(directory)) return true;
  const { mode, uid, gid } = statSync(directory);
  if (uid === user.uid) return (mode & 0o100) !== 0;
  if (gid === user.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
};

import { existsSync, readFileSync, statSync } from 'node:fs';
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

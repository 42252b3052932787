import { execFile } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './binaries.ts';
import { StartError } from './errors.ts';
import { makePublicCopy } from './public-copy.ts';
import type { ServerAccount } from './server-account.ts';

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

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const GIT_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

/**
 * Returns the last release before the current commit of a repository: the newest tag `v…` among its ancestors. Returns
 * undefined, and writes so in capitals, if there is none, because what compares releases then checks nothing.
 */
export const findPreviousRelease = async (
  repository: string,
  warn: (text: string) => void = (text) => process.stderr.write(text),
): Promise<string | undefined> => {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return (await run('git', ['-C', repository, ...describe], { timeout: GIT_TIMEOUT_MS })).stdout.trim();
  } catch {
    warn(
      'NO RELEASE IS TAGGED before this commit, so nothing is compared with it: checks of upgrades start with the first tag\n',
    );
    return undefined;
  }
};

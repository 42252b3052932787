import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const ROOT = new URL('../../../../', import.meta.url).pathname;
const GIT_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/**
 * Checks out the sources of the previous release into a folder and installs its packages. Throws if this checkout lacks
 * the history or the packages are unavailable.
 */
export const checkOutPreviousRelease = async (folder: string): Promise<void> => {
  const commit = await findPreviousRelease(ROOT);
  await mkdir(folder, { recursive: true });
  const archive = `${folder}.tar`;
  await run('git', ['-C', ROOT, 'archive', '--output', archive, commit], { timeout: GIT_TIMEOUT_MS });
  await run('tar', ['-xf', archive, '-C', folder], { timeout: GIT_TIMEOUT_MS });
  // Uses this checkout's pnpm: the folder has none yet.
  const install = ['install', '--frozen-lockfile', '--prefer-offline', '--prod'];
  await run(`${ROOT}node_modules/.bin/pnpm`, install, { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
};

/**
 * Returns the last release before this commit: the newest tag `v…` among its ancestors. Where no ancestor has one, it warns and
 * returns the commit named in `previous-release`.
 */
export const findPreviousRelease = async (
  repository: string,
  warn: (text: string) => void = (text) => process.stderr.write(text),
): Promise<string> => {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return (await run('git', ['-C', repository, ...describe], { timeout: GIT_TIMEOUT_MS })).stdout.trim();
  } catch {
    const commit = (await readFile(new URL('previous-release', import.meta.url), 'utf8')).trim();
    warn(`NO RELEASE IS TAGGED before this commit, so ${commit} stands for the previous release\n`);
    return commit;
  }
};

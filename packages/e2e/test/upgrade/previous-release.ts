import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const ROOT = new URL('../../../../', import.meta.url).pathname;
const GIT_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/**
 * Brings the sources of the previous release into a folder, with the packages that it was released with. Throws where this checkout does not
 * hold its history, or the packages cannot be had.
 */
export const checkOutPreviousRelease = async (folder: string): Promise<void> => {
  const commit = await findPreviousRelease(ROOT);
  await mkdir(folder, { recursive: true });
  const archive = `${folder}.tar`;
  await run('git', ['-C', ROOT, 'archive', '--output', archive, commit], { timeout: GIT_TIMEOUT_MS });
  await run('tar', ['-xf', archive, '-C', folder], { timeout: GIT_TIMEOUT_MS });
  // This checkout's pnpm: there is none in the folder yet.
  const install = ['install', '--frozen-lockfile', '--prefer-offline', '--prod'];
  await run(`${ROOT}node_modules/.bin/pnpm`, install, { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
};

/**
 * Returns the last release before this commit: the newest tag `v…` among its ancestors, or the commit named in `previous-release` where no
 * ancestor has one.
 */
const findPreviousRelease = async (repository: string): Promise<string> => {
  const describe = ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^'];
  try {
    return (await run('git', ['-C', repository, ...describe], { timeout: GIT_TIMEOUT_MS })).stdout.trim();
  } catch {
    return (await readFile(new URL('previous-release', import.meta.url), 'utf8')).trim();
  }
};

import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const GIT_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 120_000;
const run = promisify(execFile);

/**
 * Checks out the sources of a release into a folder and installs its packages. Throws if the repository lacks the history or
 * the packages are unavailable.
 */
export const checkOutRelease = async (repository: string, release: string, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const archive = `${folder}.tar`;
  await run('git', ['-C', repository, 'archive', '--output', archive, release], { timeout: GIT_TIMEOUT_MS });
  await run('tar', ['-xf', archive, '-C', folder], { timeout: GIT_TIMEOUT_MS });
  // Uses this checkout's pnpm: the folder has none yet.
  const install = ['install', '--frozen-lockfile', '--prefer-offline', '--prod'];
  await run(`${repository}node_modules/.bin/pnpm`, install, { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
};

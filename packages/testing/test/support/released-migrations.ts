import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const GIT_TIMEOUT_MS = 60_000;
const MIGRATION = /^services\/[\w-]+\/migrations\/[\w.]+\.ts$/;
const FUNCTION = /^services\/[\w-]+\/migrations\/functions\/(?:\w+\/)?\w+\.sql$/;
const run = promisify(execFile);

/**
 * Returns the faults of the working tree towards a release. Databases have run its migrations, so these stay as they are and
 * all new ones come after them. Its services call its functions while a newer one is rolled out, so these keep their signatures.
 */
export const findReleasedChanges = async (repository: string, release: string): Promise<string[]> => {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-C', repository, ...args], { timeout: GIT_TIMEOUT_MS })).stdout;
  const lines = async (...args: string[]): Promise<string[]> => (await git(...args)).split('\n').filter(Boolean);
  const released = await lines('ls-tree', '-r', '--name-only', release, '--', 'services');
  const present = await lines('ls-files', '--cached', '--others', '--exclude-standard', '--', 'services');
  const textOf = (path: string): string | undefined => {
    const file = join(repository, path);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const faults: string[] = [];
  for (const path of released.filter((one) => MIGRATION.test(one))) {
    const text = textOf(path);
    if (text === undefined) faults.push(`${path} is gone, but a release has it`);
    else if (text !== (await git('show', `${release}:${path}`)))
      faults.push(`${path} is changed, but a release has run it`);
  }
  for (const path of present.filter(
    (one) => MIGRATION.test(one) && !released.includes(one) && textOf(one) !== undefined,
  )) {
    const [newest] = released
      .filter((one) => MIGRATION.test(one) && serviceOf(one) === serviceOf(path))
      .sort()
      .reverse();
    if (newest !== undefined && path < newest) faults.push(`${path} comes before ${basename(newest)} of a release`);
  }
  for (const path of released.filter((one) => FUNCTION.test(one))) {
    const text = textOf(path);
    if (text === undefined) faults.push(`${path} is gone, but services of a release may call it`);
    else if (signatureOf(text) !== signatureOf(await git('show', `${release}:${path}`)))
      faults.push(`${path} has another signature than in a release`);
  }
  return faults;
};

const serviceOf = (path: string): string | undefined => path.split('/')[1];

/** Returns a function's name, arguments and results, without comments and white space. */
const signatureOf = (text: string): string =>
  text
    .replaceAll(/--.*$/gm, '')
    .replace(/\b(?:LANGUAGE|AS\s+\$)[\s\S]*/i, '')
    .replaceAll(/\s+/g, '');

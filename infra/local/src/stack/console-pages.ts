import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runToEnd, startProcess } from '@svc/embedded-servers';
import type { BoundedLog } from '../process/bounded-log.ts';
import type { StackSettings } from './settings.ts';
import { withLogPath } from './with-log-path.ts';

export const CONSOLE = 'console';
const BUILD_TIMEOUT_MS = 900_000;
/** Sources of the pages: the console's and the documentation's. */
const SOURCES = [
  ...['index.html', 'vite.config.ts', 'public', 'src/web'],
  ...['src', 'client', 'style'].map((folder) => `../../packages/documentation/${folder}`),
  ...['../../docs', '../../packages/contracts/src', '../../packages/partner-sdk/src'],
];

export const consoleFolder = ({ servicesDirectory }: Pick<StackSettings, 'servicesDirectory'>): string =>
  join(servicesDirectory, CONSOLE);

export const consolePorts = (settings: Pick<StackSettings, 'servicesDirectory'>): readonly string[] =>
  existsSync(join(consoleFolder(settings), 'src', 'main.ts')) ? [CONSOLE, `${CONSOLE}-internal`] : [];

/** Builds the pages with Vite if they are missing or older than their sources. Throws StartError. */
export const buildPagesIfOld = async (
  directory: string,
  { log, signal }: { readonly log: BoundedLog; readonly signal: AbortSignal },
): Promise<void> => {
  if (!needsBuild(directory)) return;
  const manifest = createRequire(join(directory, 'package.json')).resolve('vite/package.json');
  const build = await startProcess({
    command: [process.execPath, join(manifest, '..', 'bin', 'vite.js'), 'build'],
    cwd: directory,
    // The build finds its programs through the PATH.
    env: process.env,
    stopSignals: ['SIGTERM'],
    onOutput: log.write,
  });
  await withLogPath(log.path, () =>
    runToEnd(build, { name: 'The build of the console', timeoutMs: BUILD_TIMEOUT_MS, signal }),
  );
};

const needsBuild = (directory: string): boolean => {
  const built = statSync(join(directory, 'dist', 'web', 'index.html'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  return SOURCES.some((source) => newestChangeMs(join(directory, source)) > built.mtimeMs);
};

const newestChangeMs = (path: string): number => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  const below = readdirSync(path).map((name) => newestChangeMs(join(path, name)));
  return Math.max(0, ...below);
};

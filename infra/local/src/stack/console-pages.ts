import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BoundedLog } from '../process/bounded-log.ts';
import type { StackSettings } from './settings.ts';

/** Name of the console's process, and of its ports. */
export const CONSOLE = 'console';
const BUILD_TIMEOUT_MS = 180_000;
/** What the pages are built from, below the console's folder: its own sources, and those of the documentation. */
const SOURCES = [
  ...['index.html', 'vite.config.ts', 'public', 'src/web'],
  ...['src', 'client', 'style'].map((folder) => `../../packages/documentation/${folder}`),
  ...['../../docs', '../../packages/contracts/src', '../../packages/partner-sdk/src'],
];

/** The folder of the console. */
export const consoleFolder = ({ servicesDirectory }: Pick<StackSettings, 'servicesDirectory'>): string =>
  join(servicesDirectory, CONSOLE);

/** Names of the console's ports; none where its folder is missing. */
export const consolePorts = (settings: Pick<StackSettings, 'servicesDirectory'>): readonly string[] =>
  existsSync(join(consoleFolder(settings), 'src', 'main.ts')) ? [CONSOLE, `${CONSOLE}-internal`] : [];

/** Builds the pages with Vite, in a process of its own, where they are missing or older than their sources. Throws when that fails. */
export const buildPagesIfOld = async (directory: string, { log, signal }: BuildOptions): Promise<void> => {
  if (!needsBuild(directory)) return;
  const manifest = createRequire(join(directory, 'package.json')).resolve('vite/package.json');
  const child = spawn(process.execPath, [join(manifest, '..', 'bin', 'vite.js'), 'build'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(BUILD_TIMEOUT_MS)]),
  });
  child.stdout.on('data', (chunk: Buffer) => log.write(chunk));
  child.stderr.on('data', (chunk: Buffer) => log.write(chunk));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the console's pages cannot be built; see ${log.path}`);
};

/** Where the output goes, and who may stop it. */
export interface BuildOptions {
  log: BoundedLog;
  signal: AbortSignal;
}

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

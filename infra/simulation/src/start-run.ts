import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createServerTemplate } from './database/simulated-server.ts';
import { FIRST_EPOCH } from './first-epoch.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** A run makes much garbage that lives for some steps, and has one processor. */
const NODE_OPTIONS = ['--max-semi-space-size=32', '--single-threaded-gc'];

export type StartedRun = ChildProcessByStdio<null, Readable, null>;

/** Makes a directory ready for many runs. */
export const prepareRuns = (directory: string): Promise<void> =>
  createServerTemplate(join(directory, 'template'), FIRST_EPOCH);

/** Starts a run in a new process, whose clocks it replaces. It begins from what `prepareRuns` has made. */
export const startRun = (directory: string, options: readonly string[]): StartedRun =>
  spawn(process.execPath, [...NODE_OPTIONS, MAIN, '--template', join(directory, 'template'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') },
  });

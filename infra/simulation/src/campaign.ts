import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { scratchDirectory } from '@svc/testing/servers';
import { createServerTemplate, FIRST_EPOCH } from './database/simulated-server.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** A run makes much garbage that lives for some steps, and has one processor. */
const NODE_OPTIONS = ['--max-semi-space-size=32', '--single-threaded-gc'];

type StartedRun = ChildProcessByStdio<null, Readable, null>;

/** Makes a directory ready for many runs. */
export const prepareRuns = (directory: string): Promise<void> =>
  createServerTemplate(join(directory, 'template'), FIRST_EPOCH);

/** Starts a run in a new process, whose clocks it replaces. It begins from what `prepareRuns` has made. */
export const startRun = (directory: string, options: readonly string[]): StartedRun =>
  spawn(process.execPath, [...NODE_OPTIONS, MAIN, '--template', join(directory, 'template'), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(directory, 'compiled') },
  });

const MS_PER_MINUTE = 60_000;
const FIGURES = /: (\d+) operations, (\d+) steps,/;

export interface Campaign {
  readonly minutes: number;
  readonly operations: number;
  readonly firstSeed: number;
}

interface Totals {
  seeds: number;
  failed: number;
  operations: number;
  steps: number;
}

/**
 * Runs seeds for so many minutes, as many at once as there are processors, each in its own process. Returns true if none found a
 * violation.
 */
export const runCampaign = async ({ minutes, operations, firstSeed }: Campaign): Promise<boolean> => {
  const beganMs = performance.now();
  const endMs = beganMs + minutes * MS_PER_MINUTE;
  const scratch = await scratchDirectory();
  const running = new Set<StartedRun>();
  let isStopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isStopped = true;
      for (const child of running) child.kill(signal);
    });
  }
  const totals: Totals = { seeds: 0, failed: 0, operations: 0, steps: 0 };
  try {
    await prepareRuns(scratch.path);
    const runSeeds = async (): Promise<void> => {
      while (performance.now() < endMs && !isStopped) {
        const seed = firstSeed + totals.seeds;
        totals.seeds += 1;
        const child = startRun(scratch.path, ['--seed', String(seed), '--operations', String(operations)]);
        running.add(child);
        await count(totals, child);
        running.delete(child);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, runSeeds));
  } finally {
    scratch.remove();
  }
  const minutesTaken = (performance.now() - beganMs) / MS_PER_MINUTE;
  console.log(
    `${totals.seeds} seeds from ${firstSeed} on, ${totals.failed} of them with a violation: ${totals.operations} operations and ` +
      `${totals.steps} steps in ${minutesTaken.toFixed(1)} minutes, ${Math.round(totals.operations / minutesTaken)} operations and ` +
      `${Math.round(totals.steps / minutesTaken)} steps a minute, with starts and checks`,
  );
  return totals.failed === 0;
};

/** Waits for the end of a run, prints its report and adds its figures. */
const count = async (totals: Totals, child: StartedRun): Promise<void> => {
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  const output = await text(child.stdout);
  if ((await ended) !== 0) totals.failed += 1;
  console.log(output.trimEnd());
  const [, operations = 0, steps = 0] = FIGURES.exec(output) ?? [];
  totals.operations += Number(operations);
  totals.steps += Number(steps);
};

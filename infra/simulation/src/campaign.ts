import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import { scratchDirectory } from '@svc/embedded-servers';
import { prepareRuns, type StartedRun, startRun } from './start-run.ts';

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

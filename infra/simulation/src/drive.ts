import { checkDrained, listLeftOver, listUnsettled } from './checks/check-drained.ts';
import type { Checks } from './checks/checks.ts';
import { Violation, type Violations } from './checks/checks.ts';
import type { Random } from './engine/random.ts';
import type { Scheduler, Step, Trace } from './engine/scheduler.ts';
import type { VirtualTime } from './engine/virtual-time.ts';
import { disturb } from './faults.ts';
import type { SimulationOptions } from './simulation.ts';
import type { Fleet } from './world/fleet.ts';
import type { Workload, WorkloadParts } from './world/workload.ts';

const STEPS_BETWEEN_FULL_CHECKS = 4_000;
const STEPS_BETWEEN_HASHES = 1_000;
const DRAIN_STEPS_MAX = 150_000;
const DAY_MS = 24 * 3_600_000;

/** Everything that the loop drives. */
export interface Run {
  readonly options: SimulationOptions;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly checks: Checks;
  readonly violations: Violations;
  readonly fleet: Fleet;
  readonly workload: Workload;
  readonly parts: WorkloadParts;
  readonly operations: () => number;
  readonly heal: () => void;
}

/** Lets the workload make its operations, with faults, and then waits until nothing is left over. */
export const drive = async (run: Run): Promise<void> => {
  const { fleet, workload, options, operations, parts } = run;
  fleet.startAll();
  await stepUntil(run, () => fleet.isComplete());
  for (const app of parts.population.apps) await configureApp(run, app);
  workload.begin();
  while (operations() < options.operations) {
    await stepOnce(run);
    await disturb(run);
  }
  await drain(run);
};

/** Lets an app's owner set its webhook, while the steps go on. */
const configureApp = async (run: Run, app: string): Promise<void> => {
  let isDone = false;
  const dispatcher = run.fleet.dispatcher();
  if (dispatcher === undefined) throw new Error('no dispatcher runs');
  const configured = dispatcher.configure(app).then(() => {
    isDone = true;
  });
  await stepUntil(run, () => isDone);
  await configured;
};

const stepUntil = async (run: Run, isDone: () => boolean, stepsMax = DRAIN_STEPS_MAX): Promise<void> => {
  for (let count = 0; !isDone(); count += 1) {
    if (count > stepsMax) throw new Violation('the system does not come to rest');
    if ((await stepOnce(run)) === undefined) throw new Violation('nothing can happen any more');
  }
};

const stepOnce = async (run: Run): Promise<Step | undefined> => {
  const { scheduler, checks, violations, options, trace } = run;
  if (scheduler.steps() === options.untilStep) {
    const leftOver = await listLeftOver(checks, run.parts);
    throw new Violation(`stopped as asked; left over are:\n${leftOver.join('\n')}`);
  }
  const step = await scheduler.step();
  violations.raise();
  if (step !== undefined && step.number % STEPS_BETWEEN_FULL_CHECKS === 0) await checks.all();
  if (step !== undefined && step.number % STEPS_BETWEEN_HASHES === 0) options.onHash?.(step.number, trace.hash());
  return step;
};

/** Ends all faults and all new work, and waits until nothing is left over. */
const drain = async (run: Run): Promise<void> => {
  const { workload, fleet, heal, checks, time, trace, parts } = run;
  trace.add('drain');
  workload.wind();
  heal();
  const isDrained = async (): Promise<boolean> => (await listLeftOver(checks, parts)).length === 0;
  const hasEnded = async (): Promise<boolean> => fleet.isComplete() && workload.running() === 0;
  if (!(await waitFor(run, hasEnded, { withinMs: 600_000, skippedMs: 5_000 }))) {
    throw new Violation('the system does not come to rest');
  }
  await waitFor(run, isDrained, { withinMs: 120_000, skippedMs: 10_000 });
  // What is uncertain is settled at its estimate after a day.
  time.advance(1.1 * DAY_MS);
  // A fact that came before its predecessor is delivered again after up to half an hour.
  const isSettled = async (): Promise<boolean> => (await listUnsettled(checks, parts)).length === 0;
  await waitFor(run, isSettled, { withinMs: 3_600_000, skippedMs: 240_000 });
  await checks.all();
  await checkDrained(checks, parts);
};

const LOOK_MS = 1_000;
/** Looks between two jumps in time. A sweep trusts its sight only after it has run for 10 s without a pause. */
const LOOKS_IN_A_ROW = 25;

/**
 * Steps until a condition holds, looking every virtual second, or until it should have held long ago. Time jumps now and then, so
 * that few steps are polls that find nothing. Returns true if the condition holds.
 */
const waitFor = async (
  run: Run,
  isDone: () => Promise<boolean>,
  { withinMs, skippedMs }: { readonly withinMs: number; readonly skippedMs: number },
): Promise<boolean> => {
  const { time } = run;
  const untilMs = time.elapsedMs() + withinMs;
  for (let look = 1; time.elapsedMs() < untilMs; look += 1) {
    const nextMs = time.elapsedMs() + LOOK_MS;
    await stepUntil(run, () => time.elapsedMs() >= nextMs);
    if (await isDone()) return true;
    if (look % LOOKS_IN_A_ROW === 0) time.advance(skippedMs);
  }
  return false;
};

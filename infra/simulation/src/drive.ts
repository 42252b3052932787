import { checkDrained, listLeftOver, listUnsettled } from './checks/check-drained.ts';
import { type Checks, Violation, type Violations } from './checks/checks.ts';
import type { Random } from './engine/random.ts';
import type { Scheduler, Step, Trace } from './engine/scheduler.ts';
import { runIn } from './engine/simulated-process.ts';
import type { VirtualTime } from './engine/time.ts';
import type { WorkloadParts } from './world/activity.ts';
import type { Fleet } from './world/fleet.ts';
import { redateEvents } from './world/stripe-activities.ts';
import type { Workload } from './world/workload.ts';

/** Chances of each fault after a step. */
const FAULTS = {
  crash: 1 / 4_000,
  isolation: 1 / 3_000,
  sleep: 1 / 12_000,
  backUp: 1 / 12_000,
  restore: 1 / 25_000,
  loss: 1 / 25_000,
};
const ISOLATION_MEAN_MS = 1_000;

/** Makes faults happen at random. Called after each step. */
const disturb = async ({ random, fleet, trace, parts, time }: Run): Promise<void> => {
  if (random.chance(FAULTS.crash)) trace.add(await fleet.crashOne());
  if (random.chance(FAULTS.isolation)) {
    const name = random.pick([
      'billing-1',
      'billing',
      'gateway-1',
      'gateway-2',
      'dispatcher-1',
      'broker',
      'payments',
      'receivers',
    ]);
    trace.add(`${name} is cut off`);
    parts.surroundings.network.isolate(name, random.around(ISOLATION_MEAN_MS));
  }
  if (random.chance(FAULTS.sleep)) {
    // All machines sleep, as in a data center without power, and so weeks and months pass too. Not while the broker's data
    // is lost: outboxes keep it for a week.
    const days = random.pick(parts.surroundings.broker.isRecovering() ? [0.01, 0.3, 1.2] : [0.01, 0.3, 1.2, 8, 31]);
    trace.add(`${days} days pass`);
    time.advance(days * DAY_MS);
    redateEvents(parts.stripe, time.nowMs());
  }
  const { stepper } = parts.surroundings;
  if (random.chance(FAULTS.backUp) && !stepper.hasPaused()) {
    trace.add('backup of billing');
    await fleet.backUp();
  }
  if (random.chance(FAULTS.restore) && !stepper.hasPaused()) trace.add(`restore of billing: ${await fleet.restore()}`);
  if (random.chance(FAULTS.loss)) loseData(parts, trace);
};

const RECONCILE_MEAN_MS = 3_000;

/** The broker loses its data. The operator then has the relays compare streams and outboxes, as the runbook says. */
const loseData = ({ surroundings, fleet, connections }: WorkloadParts, trace: Trace): void => {
  const { broker, time, random } = surroundings;
  if (!broker.lose()) return;
  trace.add('the broker loses its data');
  connections.publishAgain();
  time.schedule(random.around(RECONCILE_MEAN_MS), 'the operator reconciles outboxes', () => {
    for (const service of [fleet.billing(), fleet.gateway()]) {
      if (service !== undefined) runIn(service.process, service.reconcile);
    }
  });
};

const STEPS_BETWEEN_FULL_CHECKS = 4_000;
const STEPS_BETWEEN_HASHES = 1_000;
const DRAIN_STEPS_MAX = 150_000;
const DAY_MS = 24 * 3_600_000;

export interface SimulationOptions {
  readonly seed: number;
  /** Operations after which the workload ends and the system drains. */
  readonly operations: number;
  /** Stops before this step, to look at it. */
  readonly untilStep?: number;
  /** Fault to plant, to prove that it is noticed. */
  readonly plant?: string;
  readonly onLine?: (line: string) => void;
  /** Called with the hash of all steps so far, after every 1,000 steps. */
  readonly onHash?: (step: number, hash: string) => void;
  /** Data directory to begin from, made by `createServerTemplate`. */
  readonly template?: string | undefined;
}

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

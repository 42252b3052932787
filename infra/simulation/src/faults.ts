import type { Run } from './drive.ts';
import type { Trace } from './engine/scheduler.ts';
import { runIn } from './engine/simulated-process.ts';
import { redateEvents } from './world/stripe-account.ts';
import type { WorkloadParts } from './world/workload.ts';

const DAY_MS = 24 * 3_600_000;

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
export const disturb = async ({ random, fleet, trace, parts, time }: Run): Promise<void> => {
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

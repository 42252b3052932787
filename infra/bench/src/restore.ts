import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { say } from './harness/report.ts';
import type { RunningService } from './harness/stack.ts';
import { buy, startCallers, trade } from './restore/drill-load.ts';
import { type Buyer, type DrillWorld, startDrillWorld } from './restore/drill-world.ts';
import { type Accepted, type Faults, judge, sumOf } from './restore/judge.ts';

const OPERATOR = new URL('../../operator/src/main.ts', import.meta.url).pathname;
const run = promisify(execFile);

/** States of NATS when the databases are back. */
const brokers = ['ahead', 'empty'] as const;

type Broker = (typeof brokers)[number];

/** Result of a drill. */
export interface RestoreReport extends Faults, Accepted {
  readonly broker: Broker;
  readonly answered: number;
  /** Time from the loss until the last `svc after-restore` has ended. */
  readonly outageMs: number;
  /** Longest time without an answer 200 that a caller of the gateway saw. */
  readonly longestGapMs: number;
  readonly failed: Readonly<Record<string, number>>;
}

/**
 * Restores all databases to one moment from a base backup and archived WAL, under load, with the broker ahead of them
 * and then with an empty one, as after the loss of a region. Compares everything that the outside remembers.
 */
export const measureRestore = async (options: readonly string[]): Promise<void> => {
  const asked = brokers.filter((broker) => options.includes(`--${broker}`));
  for (const broker of asked.length === 0 ? brokers : asked) {
    const report = await runRestoreDrill(broker);
    say(`${JSON.stringify(report)}\n`);
    if (sumOf(report) > 0) process.exitCode = 1;
  }
};

/** Runs one drill. */
export const runRestoreDrill = async (broker: Broker): Promise<RestoreReport> => {
  const world = await startDrillWorld({ hasArchive: true });
  try {
    const [before, since, unconfirmed, later] = quartersOf(world.buyers);
    await world.stack.archive?.backUp();
    const callers = startCallers(world);
    await trade(world, before);
    const moment = new Date();
    await trade(world, since);
    for (const buyer of unconfirmed) await buy(world, buyer, false);
    const lostAt = performance.now();
    await restore(world, moment, broker);
    const reopened = new Date();
    const outageMs = performance.now() - lostAt;
    // All of them try to buy again, and none may: each has paid.
    for (const buyer of [...before, ...since, ...unconfirmed]) await buy(world, buyer);
    await trade(world, later);
    await callers.stop();
    return {
      broker,
      answered: callers.answered.size,
      outageMs: Math.round(outageMs),
      longestGapMs: callers.longestGapMs(),
      failed: Object.fromEntries(callers.failed),
      ...(await judge(world, callers, { moment, reopened })),
    };
  } finally {
    await world.stop();
  }
};

/** Loses everything at once, and follows the guide. */
const restore = async (world: DrillWorld, moment: Date, broker: Broker): Promise<void> => {
  world.killServices();
  await world.stack.archive?.restoreTo(moment);
  if (broker === 'empty') await world.stack.emptyNats();
  await world.startServices();
  for (const [service, { process }] of restored(world)) {
    await afterRestore(world, service, moment).catch((error: unknown) => {
      throw process.failure(String(error));
    });
  }
};

/** Returns the services to which the command applies. Auth's facts come from an outbox without the service. */
const restored = ({ billing, gateway, dispatcher }: DrillWorld): [string, RunningService][] => [
  ['billing', billing],
  ['inference-gateway', gateway],
  ['webhook-dispatcher', dispatcher],
];

const quartersOf = (buyers: readonly Buyer[]): [Buyer[], Buyer[], Buyer[], Buyer[]] => {
  const size = Math.floor(buyers.length / 4);
  const quarter = (index: number): Buyer[] => buyers.slice(index * size, (index + 1) * size);
  return [quarter(0), quarter(1), quarter(2), quarter(3)];
};

/** The operator's command, as the guide has it. */
const afterRestore = async ({ stack, ...world }: DrillWorld, service: string, moment: Date): Promise<void> => {
  const env = {
    PATH: process.env['PATH'] ?? '',
    INTERNAL_API_TOKEN: stack.operatorToken,
    AUTH_INTERNAL_URL: world.teller.internalUrl,
    BILLING_INTERNAL_URL: world.billing.internalUrl,
    INFERENCE_GATEWAY_INTERNAL_URL: world.gateway.internalUrl,
    WEBHOOK_DISPATCHER_INTERNAL_URL: world.dispatcher.internalUrl,
  };
  const args = [OPERATOR, 'after-restore', service, '--restored-to', moment.toISOString()];
  const { stdout } = await run(process.execPath, args, { env, timeout: 120_000 });
  say(stdout.trim());
};

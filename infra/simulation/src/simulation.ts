import { spawn } from 'node:child_process';
import { createMetrics, type LogFields, type Logger } from '@svc/service-kit';
import { type Checks, createChecks, createViolations, installGuards, Violation } from './checks/checks.ts';
import { plantFault } from './checks/plants.ts';
import { type Backends, createBackends } from './database/backends.ts';
import { FIRST_EPOCH, type SimulatedServer, startSimulatedServer } from './database/simulated-server.ts';
import { createStepper } from './database/stepper.ts';
import { drive, type Run, type SimulationOptions } from './drive.ts';
import { createRandom } from './engine/random.ts';
import { replaceGlobals } from './engine/replace-globals.ts';
import { createScheduler, createTrace, type Trace } from './engine/scheduler.ts';
import { currentProcess } from './engine/simulated-process.ts';
import { createVirtualTime, realNowMs } from './engine/time.ts';
import { createBroker } from './network/broker.ts';
import { createHintBoard } from './network/broker-client.ts';
import { createNetwork } from './network/network.ts';
import type { WorkloadParts } from './world/activity.ts';
import { createFleet } from './world/fleet.ts';
import { createConnections, createReceivers } from './world/partners.ts';
import { createPopulation } from './world/population.ts';
import { deliverEvent, openStripeAccount } from './world/stripe-activities.ts';
import type { Surroundings } from './world/surroundings.ts';
import { activitiesOf, createWorkload, LASTING } from './world/workload.ts';

const ignore = (): void => undefined;

/** Writes the warnings and errors of services to the trace. */
const createTraceLogger = (trace: Trace): Logger => {
  const write = (fields: LogFields | string, message?: string): void => {
    const err = typeof fields === 'string' ? undefined : fields.err;
    const reason = err instanceof Error ? `: ${err.message}` : '';
    trace.add(`  ${currentProcess()?.name}: ${message ?? ''}${reason}`.replaceAll(/\s+/g, ' '));
  };
  const logger: Logger = {
    debug: ignore,
    info: ignore,
    warn: write,
    error: write,
    fatal: write,
    audit: ignore,
    child: () => logger,
  };
  return logger;
};

/**
 * Lets stopped backends go on when this process is killed, because a server cannot stop while one of its processes is stopped.
 * A shell notices the end through a pipe. Returns a function that ends the watch.
 */
const releaseAtEnd = (serverPid: number): (() => void) => {
  const script = 'read -r _; for child in $(cat /proc/"$1"/task/"$1"/children); do kill -CONT "$child"; done';
  const command = ['-c', script, 'sh', String(serverPid)];
  const shell = spawn('/bin/sh', command, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return () => shell.stdin.end('\n');
};

export interface SimulationReport {
  readonly operations: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly steps: number;
  readonly realMs: number;
  readonly virtualMs: number;
  readonly hash: string;
  readonly deadlocks: readonly string[];
  readonly violation: { readonly step: number; readonly text: string; readonly lines: readonly string[] } | undefined;
}

/** Runs one simulation. A process can run only one, because it replaces the process's clocks and random sources. */
export const simulate = async (options: SimulationOptions): Promise<SimulationReport> => {
  const server = await startSimulatedServer({ firstEpoch: FIRST_EPOCH, template: options.template });
  const release = releaseAtEnd(server.pid);
  try {
    return await runOn(server, options);
  } finally {
    release();
    await server.stop();
  }
};

const runOn = async (server: SimulatedServer, options: SimulationOptions): Promise<SimulationReport> => {
  const admin = await server.connect('postgres');
  const guarded = await server.connect('billing');
  await installGuards(guarded);
  await guarded.end();
  if (options.plant !== undefined) await plantFault(server, options.plant);
  const checks = createChecks(server);
  const backends = await createBackends(admin);
  const counts = new Map<string, number>();
  const deadlocks: string[] = [];
  const trace = createTrace(options.onLine);
  const beganMs = realNowMs();
  const run = assemble({ server, options, admin, checks, backends, trace, counts, deadlocks });
  let violation: SimulationReport['violation'];
  try {
    await drive(run);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = { step: run.scheduler.steps(), text: error.message, lines: trace.lines() };
  } finally {
    backends.resumeAll();
    await checks.close();
  }
  await admin.end();
  return {
    operations: run.operations(),
    counts,
    steps: run.scheduler.steps(),
    realMs: realNowMs() - beganMs,
    virtualMs: run.time.elapsedMs(),
    hash: trace.hash(),
    deadlocks,
    violation,
  };
};

interface Assembly {
  readonly server: SimulatedServer;
  readonly options: SimulationOptions;
  readonly admin: Awaited<ReturnType<SimulatedServer['connect']>>;
  readonly checks: Checks;
  readonly backends: Backends;
  readonly trace: Trace;
  readonly counts: Map<string, number>;
  readonly deadlocks: string[];
}

const assemble = ({ server, options, admin, checks, backends, trace, counts, deadlocks }: Assembly): Run => {
  const { seed } = options;
  const metrics = createMetrics('simulation', { isOfProcess: false });
  const time = createVirtualTime();
  const immediates = replaceGlobals(time, createRandom(seed, 'ids'));
  const violations = createViolations();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => violations.note(`stopped by ${signal}`));
  process.on('unhandledRejection', (error) => violations.note(`unhandled rejection: ${describe(error)}`));
  const stepper = createStepper({
    server: server.address,
    backends,
    time,
    setClock: server.setClock,
    onDeadlock: (texts) => void deadlocks.push(texts.join(' <> ')),
    onViolation: violations.note,
  });
  const network = createNetwork(time, createRandom(seed, 'network'));
  const broker = createBroker(time);
  let operations = 0;
  const count = (operation: string): void => {
    operations += 1;
    counts.set(operation, (counts.get(operation) ?? 0) + 1);
  };
  const hints = createHintBoard(time);
  const logger = createTraceLogger(trace);
  const random = createRandom(seed, 'workload');
  const surroundings: Surroundings = { server, stepper, time, random, network, broker, hints, metrics, logger, count };
  // Events are delivered once the fleet runs.
  const stripe = openStripeAccount(time, (body, signature) => deliverEvent(parts, body, signature));
  const receivers = createReceivers(createRandom(seed, 'receivers'), violations.note);
  const releaseDatabase = () => checks.release();
  const replaceDatabase = backends.withAllRunning;
  const fleet = createFleet({ surroundings, stripe, receivers, admin, releaseDatabase, replaceDatabase });
  const connections = createConnections(broker, time, FIRST_EPOCH);
  const parts: WorkloadParts = {
    surroundings,
    fleet,
    stripe,
    population: createPopulation(),
    connections,
    receivers,
  };
  return {
    options,
    time,
    trace,
    checks,
    violations,
    fleet,
    parts,
    random: createRandom(seed, 'faults'),
    scheduler: createScheduler({ time, stepper, random: createRandom(seed, 'schedule'), immediates, trace }),
    workload: createWorkload(parts, activitiesOf(parts), LASTING),
    operations: () => operations,
    heal: () => {
      network.heal();
      receivers.heal();
    },
  };
};

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

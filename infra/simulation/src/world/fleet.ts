import type { LeaseHolder, RecallLeases } from '@svc/billing/src/leases/index.ts';
import { restoreOperations } from '@svc/contracts';
import type { StripeStandIn } from '@svc/sandbox/stripe';
import type pg from 'pg';
import type { DatabaseName } from '../database/simulated-server.ts';
import { killProcess, type SimulatedProcess } from '../engine/simulated-process.ts';
import { type BillingProcess, startBilling } from './billing-process.ts';
import { type DispatcherProcess, startDispatcher } from './dispatcher-process.ts';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import type { Receivers } from './partners.ts';
import type { Surroundings } from './surroundings.ts';

const REPLICAS = 2;
const SNAPSHOT = 'billing_backup';
const RESTART_MEAN_MS = 1_500;
const RECALL_TIMEOUT_MS = 100;

/** A slot of a deployment, in which one process runs after another. */
interface Place<P> {
  readonly name: string;
  readonly start: (name: string) => Promise<P>;
  life: number;
  running: P | undefined;
  /** The process that is starting or running. */
  process: SimulatedProcess | undefined;
}

type AnyPlace = Place<BillingProcess> | Place<GatewayProcess> | Place<DispatcherProcess>;

/** The processes of all services. */
export interface Fleet {
  readonly billing: () => BillingProcess | undefined;
  readonly gateway: () => GatewayProcess | undefined;
  readonly dispatcher: () => DispatcherProcess | undefined;
  readonly startAll: () => void;
  readonly isComplete: () => boolean;
  /** Kills one process. Another starts in its place after a while. */
  readonly crashOne: () => Promise<string>;
  /** Copies billing's database, while its processes are down. */
  readonly backUp: () => Promise<void>;
  /** Takes billing's database back to the last copy. Returns false if there is none. */
  readonly restore: () => Promise<boolean>;
  readonly restores: () => number;
}

interface FleetOptions {
  readonly surroundings: Surroundings;
  readonly stripe: StripeStandIn;
  readonly receivers: Receivers;
  readonly admin: pg.Client;
  /** Closes and opens the connections of the checks to a database that is replaced. */
  readonly releaseDatabase: (name: DatabaseName) => Promise<void>;
  /** Runs work that replaces databases. */
  readonly replaceDatabase: (work: () => Promise<void>) => Promise<void>;
}

export const createFleet = (options: FleetOptions): Fleet => {
  const { surroundings, stripe, receivers } = options;
  const { random, server } = surroundings;
  const billing = places('billing', (name) =>
    startBilling(name, surroundings, { stripe, recallLeases: (holder) => recall(name, holder) }),
  );
  const journalDirectory = server.scratchPath('usage-journals');
  const gateways: readonly Place<GatewayProcess>[] = places('gateway', (name) =>
    startGateway({ name, surroundings, journalDirectory, billing: () => pick(billing) }),
  );
  const dispatchers = places('dispatcher', (name) =>
    startDispatcher({ name, surroundings, receivers, billing: () => pick(billing) }),
  );
  const recall = (from: string, { internalUrl, leaseIds }: LeaseHolder): ReturnType<RecallLeases> => {
    const to = new URL(internalUrl).hostname;
    const gateway = gateways.find(({ name }) => name === to)?.running;
    const target = () => (gateway?.process.isAlive === true ? gateway.process : undefined);
    return surroundings.network.call({ from, to, timeoutMs: RECALL_TIMEOUT_MS, target, mayRepeat: true }, async () =>
      gateway === undefined ? [] : gateway.recall(leaseIds),
    );
  };
  const all: readonly AnyPlace[] = [...billing, ...gateways, ...dispatchers];
  const pick = <P>(choices: readonly Place<P>[]): P | undefined => {
    const running = choices.flatMap((place) => (place.running === undefined ? [] : [place.running]));
    return running.length === 0 ? undefined : random.pick(running);
  };
  const crash = async (place: AnyPlace): Promise<void> => {
    const { process } = place;
    if (process === undefined) return;
    killProcess(process);
    const running = place.running;
    place.running = undefined;
    place.process = undefined;
    await surroundings.stepper.disconnect(process);
    if (running !== undefined && 'afterCrash' in running) running.afterCrash();
  };
  const restartLater = (place: AnyPlace): void => {
    surroundings.time.schedule(random.around(RESTART_MEAN_MS), `${place.name} starts`, () => void begin(place));
  };
  const begin = (place: AnyPlace): Promise<void> =>
    launch(place as Place<unknown>, surroundings, () => restartLater(place));
  const replaceBilling = async (replace: () => Promise<void>): Promise<void> => {
    for (const place of billing) await crash(place);
    await surroundings.stepper.closeDatabase('billing');
    await options.releaseDatabase('billing');
    await options.replaceDatabase(replace);
    for (const place of billing) restartLater(place);
  };
  const restoring = createRestoring(options, replaceBilling, () => pick(billing));
  return {
    billing: () => pick(billing),
    gateway: () => pick(gateways),
    dispatcher: () => pick(dispatchers),
    startAll: () => {
      for (const place of all) void begin(place);
    },
    isComplete: () => all.every(({ running }) => running !== undefined) && restoring.isDone(),
    crashOne: async () => {
      const place = random.pick(all);
      if (place.running === undefined) return `${place.name} is down`;
      await crash(place);
      restartLater(place);
      return `crash of ${place.name}`;
    },
    backUp: restoring.backUp,
    restore: restoring.restore,
    restores: restoring.count,
  };
};

const places = <P>(name: string, start: (name: string) => Promise<P>): Place<P>[] =>
  Array.from({ length: REPLICAS }, (_, index) => ({
    name: `${name}-${index + 1}`,
    start,
    life: 0,
    running: undefined,
    process: undefined,
  }));

/** Starts the next process of a place. One that cannot start, for example without its database, is started again. */
const launch = async (place: Place<unknown>, _: Surroundings, again: () => void): Promise<void> => {
  place.life += 1;
  const { life } = place;
  try {
    const running = await place.start(place.name);
    if (life !== place.life) return;
    place.running = running;
    // Every kind of process has this member.
    place.process = (running as { readonly process: SimulatedProcess }).process;
  } catch {
    again();
  }
};

const createRestoring = (
  { surroundings, admin }: FleetOptions,
  replaceBilling: (replace: () => Promise<void>) => Promise<void>,
  billing: () => BillingProcess | undefined,
) => {
  let backedUpAt: Date | undefined;
  let count = 0;
  let pending = 0;
  const copy = async (from: string, to: string): Promise<void> => {
    await admin.query(`DROP DATABASE IF EXISTS "${to}"`);
    await admin.query(`CREATE DATABASE "${to}" TEMPLATE "${from}"`);
    await admin.query(`ALTER DATABASE "${to}" SET search_path = public, pg_catalog`);
  };
  /** The operator's command, repeated until it succeeds. */
  const afterRestore = async (restoredTo: Date): Promise<void> => {
    const body = { restored_to: restoredTo.toISOString() };
    const { network } = surroundings;
    for (;;) {
      let taken: BillingProcess | undefined;
      const target = () => {
        taken = billing();
        return taken?.process;
      };
      const options = { from: 'operator', to: 'billing', timeoutMs: 60_000, target };
      const call = network.call(options, async () => await taken?.call(restoreOperations.billing, { body }));
      const isDone = await call.then(
        () => true,
        (error: unknown) => {
          surroundings.logger.error({ err: error }, 'after-restore failed; the operator repeats it');
          return false;
        },
      );
      if (isDone) return;
      await new Promise((resolve) => {
        setTimeout(resolve, 500);
      });
    }
  };
  return {
    count: () => count,
    isDone: () => pending === 0,
    backUp: async () => {
      // A backup from before `after-restore` lacks what that restore lost, so operators keep none.
      if (pending > 0) return;
      await replaceBilling(() => copy('billing', SNAPSHOT));
      backedUpAt = new Date();
    },
    restore: async (): Promise<boolean> => {
      if (backedUpAt === undefined || pending > 0) return false;
      const restoredTo = backedUpAt;
      count += 1;
      pending += 1;
      await replaceBilling(() => copy(SNAPSHOT, 'billing'));
      void afterRestore(restoredTo).then(() => {
        pending -= 1;
      });
      return true;
    },
  };
};

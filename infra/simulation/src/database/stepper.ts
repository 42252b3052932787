import type { SimulatedProcess } from '../engine/simulated-process.ts';
import type { VirtualTime } from '../engine/time.ts';
import type { Backends } from './backends.ts';
import { type ServerAddress, type StepEnd, SteppedConnection } from './stepped-connection.ts';

/** Outcome of a step: the server answered, or waits for a lock, or the connection is over. */
export type StepOutcome = 'opened' | 'answered' | 'blocked' | 'closed';

export interface Stepper {
  /** Creates the stream of a connection to a database, for the running process. */
  readonly openStream: (databaseName: string) => SteppedConnection;
  /** Connections that can make a step now, in the order of their creation. */
  readonly runnable: () => readonly SteppedConnection[];
  /** Returns true if a backend is stopped. PostgreSQL then copies and drops no database, since all backends must agree. */
  readonly hasPaused: () => boolean;
  /** Lets a connection go on until the server has answered or waits for a lock. */
  readonly step: (connection: SteppedConnection) => Promise<StepOutcome>;
  /** Ends the connections of a process that has crashed. The server rolls their transactions back. */
  readonly disconnect: (process: SimulatedProcess) => Promise<void>;
  /** Ends all connections to a database, also those of processes that have crashed. */
  readonly closeDatabase: (databaseName: string) => Promise<void>;
}

export interface StepperOptions {
  readonly server: ServerAddress;
  readonly backends: Backends;
  readonly time: VirtualTime;
  /** Sets the time of the databases. */
  readonly setClock: (nowMs: number) => void;
  /** Called with the statements of transactions that waited for each other. PostgreSQL has failed the first one. */
  readonly onDeadlock: (texts: readonly string[]) => void;
  /** Called for a violation that a guard inside a database reports in a committed transaction. */
  readonly onViolation: (text: string) => void;
}

/** Wait for a lock after which PostgreSQL would fail the statement: that of the SQL functions, and that of the connections. */
const LOCK_TIMEOUTS_MS = { functions: 1_000, others: 3_500 };
const CAN_GO_ON: ReadonlySet<string> = new Set(['opening', 'parked', 'granted', 'abandoned']);
const HAS_OWN_TIMEOUT = /admit_\w+_requests|settle_requests/;
const SQLSTATE_DEADLOCK = '40P01';

export const createStepper = (options: StepperOptions): Stepper => {
  const { backends } = options;
  const connections = new Set<SteppedConnection>();
  let opened = 0;
  const having = (...states: readonly SteppedConnection['state'][]) =>
    [...connections].filter(({ state }) => states.includes(state));

  /** Finds the connections whose locks the last step has released. They stay paused until the scheduler picks them. */
  const grantReleased = async (): Promise<void> => {
    const waiting = having('blocked');
    if (waiting.length === 0) return;
    const free = await backends.listFree(waiting.map(({ pid }) => pid));
    for (const connection of waiting) if (free.has(connection.pid)) connection.state = 'granted';
  };

  const finish = async (connection: SteppedConnection, end: StepEnd): Promise<StepOutcome> => {
    if (end === 'waiting') {
      connection.state = 'blocked';
      backends.pause(connection.pid);
      limitWait(options.time, connection);
      return 'blocked';
    }
    if (end === 'closed' && connection.pid !== 0) await backends.waitUntilGone(connection.pid);
    if (end === 'closed') connections.delete(connection);
    if (!connection.holdsLocks || end === 'closed') await grantReleased();
    report(connection);
    connection.deliver();
    if (end === 'closed') return 'closed';
    // The client of this statement is gone.
    if (connection.owner?.isAlive === false || connection.isAbandoned) await close(connection);
    return 'answered';
  };

  const report = ({ violations, error, text }: SteppedConnection): void => {
    violations.forEach(options.onViolation);
    if (error?.code !== SQLSTATE_DEADLOCK) return;
    const textOf = new Map(having('blocked', 'granted').map((waiting) => [waiting.pid, waiting.text]));
    const others = [...error.detail.matchAll(/^Process (\d+) waits/gm)].map(([, pid]) => textOf.get(Number(pid)));
    options.onDeadlock([text, ...others.filter((other) => other !== undefined)]);
  };

  const close = async (connection: SteppedConnection): Promise<void> => {
    connections.delete(connection);
    connection.closeSocket();
    connection.state = 'closed';
    if (connection.pid === 0) return;
    backends.resume(connection.pid);
    await backends.waitUntilGone(connection.pid);
    await grantReleased();
  };

  const step = async (connection: SteppedConnection): Promise<StepOutcome> => {
    if (connection.state === 'opening') {
      await connection.open();
      return 'opened';
    }
    if (connection.state === 'abandoned') {
      await close(connection);
      return 'closed';
    }
    options.setClock(options.time.nowMs());
    return finish(connection, await (connection.state === 'parked' ? connection.send() : resume(backends, connection)));
  };

  return {
    openStream: (databaseName) => {
      opened += 1;
      const connection = new SteppedConnection({ number: opened, databaseName, server: options.server });
      connections.add(connection);
      return connection;
    },
    runnable: () =>
      [...connections].filter(({ state, isTimedOut }) => CAN_GO_ON.has(state) || (state === 'blocked' && isTimedOut)),
    hasPaused: () => having('blocked', 'granted').length > 0,
    step,
    disconnect: async (process) => {
      for (const connection of [...connections]) {
        if (connection.owner !== process) continue;
        // A statement that waits for a lock goes on without its client, until its result cannot be sent.
        if (connection.state === 'blocked' || connection.state === 'granted') continue;
        await close(connection);
      }
    },
    closeDatabase: async (databaseName) => {
      for (const connection of [...connections]) {
        if (connection.databaseName === databaseName) await close(connection);
      }
    },
  };
};

/** Lets a connection go on whose lock is free, or whose wait is over. */
const resume = async (backends: Backends, connection: SteppedConnection): Promise<StepEnd> => {
  if (connection.state === 'granted') connection.isTimedOut = false;
  const ended = connection.goOn();
  backends.resume(connection.pid);
  if (connection.isTimedOut) await backends.cancel(connection.pid);
  return await ended;
};

/** Ends a wait for a lock when PostgreSQL would, by the clock of the simulation. */
const limitWait = (time: VirtualTime, connection: SteppedConnection): void => {
  connection.waits += 1;
  const { waits, text } = connection;
  const timeoutMs = HAS_OWN_TIMEOUT.test(text) ? LOCK_TIMEOUTS_MS.functions : LOCK_TIMEOUTS_MS.others;
  time.schedule(timeoutMs, 'lock timeout', () => {
    if (connection.state === 'blocked' && connection.waits === waits) connection.isTimedOut = true;
  });
};

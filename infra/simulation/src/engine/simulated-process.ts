import { AsyncLocalStorage } from 'node:async_hooks';

/** One life of a simulated service process. Everything that its code starts belongs to it, and ends with it. */
export interface SimulatedProcess {
  readonly name: string;
  /** False once it has crashed: none of its timers, callbacks and answers run any more. */
  isAlive: boolean;
  /** Calls that wait for this process's answer learn of its crash. */
  readonly onCrash: Set<() => void>;
}

const current = new AsyncLocalStorage<SimulatedProcess | undefined>();

/** Returns the process whose code is running. Undefined for the simulation's own code. */
export const currentProcess = (): SimulatedProcess | undefined => current.getStore();

/** Runs code as part of a process. Timers, promises and streams that it starts stay part of the process. */
export const runIn = <T>(process: SimulatedProcess, work: () => T): T => current.run(process, work);

/** Runs code as part of the surroundings, which no crash ends: messages in flight and third parties. */
export const runOutside = <T>(work: () => T): T => current.run(undefined, work);

/** Binds a callback to the running process. It does nothing once the process has crashed. */
export const bindToProcess = <A extends unknown[]>(callback: (...args: A) => void): ((...args: A) => void) => {
  const owner = currentProcess();
  const bound = AsyncLocalStorage.bind(callback);
  return (...args) => {
    if (owner?.isAlive !== false) bound(...args);
  };
};

/** Begins a life of a process. */
export const createProcess = (name: string): SimulatedProcess => ({ name, isAlive: true, onCrash: new Set() });

/** Ends the life of a process at once. */
export const killProcess = (process: SimulatedProcess): void => {
  process.isAlive = false;
  runOutside(() => {
    for (const tell of process.onCrash) tell();
  });
};

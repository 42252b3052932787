import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessEndedError, type ProcessExit, type RunningProcess } from '@svc/testing/servers';

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
/** After a run this long, the backoff starts over. */
const STABLE_MS = 10_000;

/** A launch that ends later than this may have met a slow machine. It is repeated, for ten minutes at most. */
const EARLY_END_MS = 15_000;
const START_PATIENCE_MS = 600_000;

export interface ProcessPlan {
  readonly name: string;
  /** Starts it, on the same port every time, and resolves once it is ready. Gives up when the signal aborts. */
  readonly launch: (signal: AbortSignal) => Promise<RunningProcess>;
  /** Launches that may end early until the start counts as failed. One by default. */
  readonly attemptsMax?: number;
}

export interface SupervisorEvents {
  readonly started: (name: string, pid: number, isAgain: boolean) => void;
  readonly ended: (name: string, exit: ProcessExit) => void;
  readonly failed: (name: string, error: unknown) => void;
}

export interface SupervisorOptions extends SupervisorEvents {
  /** Once aborted, nothing is launched. Running processes continue until stopped. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Keeps processes running: one that ends is launched again, with an exponential backoff up to five seconds. */
export interface Supervisor {
  /** Launches a process and resolves once it is ready. Throws the error of its launch, after which it is not supervised. */
  readonly start: (plan: ProcessPlan) => Promise<void>;
  /** Stops all processes, wave by wave. Those that no wave names go with the first. */
  readonly stop: (waves: readonly (readonly string[])[]) => Promise<void>;
  readonly kill: () => void;
}

export const createSupervisor = (options: SupervisorOptions): Supervisor => {
  const all: Supervised[] = [];
  return {
    start: async (plan) => {
      const supervised = supervise(plan, options);
      all.push(supervised);
      await supervised.ready;
    },
    stop: async (waves) => {
      const named = new Set(waves.flat());
      const unnamed = all.map(({ name }) => name).filter((name) => !named.has(name));
      for (const wave of [unnamed, ...waves]) {
        await Promise.all(all.filter(({ name }) => wave.includes(name)).map(({ stop }) => stop()));
      }
    },
    kill: () => {
      for (const { kill } of all) kill();
    },
  };
};

interface Supervised {
  readonly name: string;
  readonly ready: Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
}

const supervise = (plan: ProcessPlan, options: SupervisorOptions): Supervised => {
  const { now = () => performance.now(), wait = waitUnlessAborted } = options;
  const stopping = new AbortController();
  const halted = AbortSignal.any([stopping.signal, options.signal]);
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  let current: RunningProcess | undefined;

  const run = async (): Promise<void> => {
    const begunAt = now();
    let launchedAt = begunAt;
    let attempts = 0;
    let isAgain = false;
    let backoffMs = BACKOFF_MIN_MS;
    while (!halted.aborted) {
      try {
        launchedAt = now();
        current = await plan.launch(halted);
        // The launch may have succeeded in the moment of the stop.
        if (halted.aborted) await current.stop();
        halted.throwIfAborted();
        options.started(plan.name, current.pid, isAgain);
        isAgain = true;
        resolve();
        const startedAt = now();
        const exit = await current.exited;
        if (halted.aborted) return;
        if (now() - startedAt > STABLE_MS) backoffMs = BACKOFF_MIN_MS;
        options.ended(plan.name, exit);
      } catch (error) {
        if (now() - launchedAt < EARLY_END_MS) attempts += 1;
        const isHopeless = attempts >= (plan.attemptsMax ?? 1) || now() - begunAt > START_PATIENCE_MS;
        const mayTryAgain = isAgain || (error instanceof ProcessEndedError && !isHopeless);
        if (halted.aborted || !mayTryAgain) return reject(error);
        options.failed(plan.name, error);
      }
      await wait(backoffMs, halted);
      backoffMs = Math.min(2 * backoffMs, BACKOFF_MAX_MS);
    }
    reject(halted.reason);
  };

  const finished = run();
  return {
    name: plan.name,
    ready,
    stop: async () => {
      stopping.abort();
      await current?.stop();
      await finished;
    },
    kill: () => {
      stopping.abort();
      void current?.kill();
    },
  };
};

const waitUnlessAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

const LOG_BYTES_MAX = 8 * 1024 * 1024;

/** A log file of bounded size. A full one becomes `<path>.1` and replaces the one before. */
export interface BoundedLog {
  readonly path: string;
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/** Opens a log for appending, readable by its owner only. */
export const openLog = (path: string, bytesMax: number = LOG_BYTES_MAX): BoundedLog => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file: number | undefined = openSync(path, 'a', 0o600);
  let bytes = fstatSync(file).size;
  const rotate = (full: number): number => {
    // If the disk is full, the old file goes on for as long again.
    bytes = 0;
    if (existsSync(path)) renameSync(path, `${path}.1`);
    const next = openSync(path, 'a', 0o600);
    closeSync(full);
    return next;
  };
  return {
    path,
    write: (text) => {
      try {
        if (file === undefined) return;
        if (bytes >= bytesMax) file = rotate(file);
        bytes += writeSync(file, text);
      } catch {
        // A full disk costs lines of the log, and must not stop the processes that write them.
      }
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
};

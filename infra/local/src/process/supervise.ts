import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessExit, RunningProcess } from './node-process.ts';

const BACKOFF_MIN_MS = 100;
const BACKOFF_MAX_MS = 5_000;
/** A process that has run for so long starts anew with the shortest wait. */
const STABLE_MS = 10_000;

/** A process to keep running. */
export interface ProcessPlan {
  name: string;
  /** Starts it once, on the same port every time. */
  launch: () => Promise<RunningProcess>;
}

/** What a supervisor tells as it happens. */
export interface SupervisionEvents {
  /** It runs, for the first time or again. */
  started: (name: string, pid: number) => void;
  /** It ended by itself, and is started again after `waitMs`. */
  died: (name: string, exit: ProcessExit, waitMs: number) => void;
  /** It could not be started; another try follows after `waitMs`. */
  failed: (name: string, error: unknown, waitMs: number) => void;
}

/** How a supervisor tells the time and waits. */
export interface SupervisionTiming {
  /** Milliseconds on a clock that never goes back. */
  now: () => number;
  /** Resolves after so long, or at once when the signal aborts. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const realTiming: SupervisionTiming = {
  now: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
};

/** A process that is kept running until it is stopped. */
export interface Supervised {
  name: string;
  /** How often it has ended by itself. */
  deaths: () => number;
  stop: () => Promise<void>;
  kill: () => void;
}

/** Starts a process and starts it again whenever it ends, ever slower while it keeps ending. The first launch's failure is thrown. */
export const supervise = async (
  plan: ProcessPlan,
  events: SupervisionEvents,
  timing: SupervisionTiming = realTiming,
): Promise<Supervised> => {
  const stopping = new AbortController();
  let deaths = 0;
  let current = await plan.launch();
  events.started(plan.name, current.pid);

  const relaunch = async (backoff: Backoff): Promise<RunningProcess | undefined> => {
    while (!stopping.signal.aborted) {
      try {
        return await plan.launch();
      } catch (error) {
        const waitMs = backoff.next();
        events.failed(plan.name, error, waitMs);
        await timing.wait(waitMs, stopping.signal);
      }
    }
    return undefined;
  };

  const keepRunning = async (): Promise<void> => {
    const backoff = createBackoff();
    while (!stopping.signal.aborted) {
      const startedAt = timing.now();
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      deaths += 1;
      if (timing.now() - startedAt > STABLE_MS) backoff.reset();
      const waitMs = backoff.next();
      events.died(plan.name, exit, waitMs);
      await timing.wait(waitMs, stopping.signal);
      const next = await relaunch(backoff);
      if (next === undefined) return;
      current = next;
      if (!stopping.signal.aborted) events.started(plan.name, current.pid);
    }
  };

  const kept = keepRunning();
  return {
    name: plan.name,
    deaths: () => deaths,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await kept;
      // A launch that was under way when we were told to stop has ended by now, and left a process.
      await current.stop();
    },
    kill: () => {
      stopping.abort();
      current.kill();
    },
  };
};

interface Backoff {
  next: () => number;
  reset: () => void;
}

const createBackoff = (): Backoff => {
  let waitMs = BACKOFF_MIN_MS;
  return {
    next: () => {
      const now = waitMs;
      waitMs = Math.min(waitMs * 2, BACKOFF_MAX_MS);
      return now;
    },
    reset: () => {
      waitMs = BACKOFF_MIN_MS;
    },
  };
};

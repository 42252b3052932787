import type { ProcessExit } from './node-process.ts';
import { type ProcessPlan, type Supervised, supervise } from './supervise.ts';

/** What a group tells as it happens. */
export interface GroupEvents {
  /** It runs, for the first time or again. */
  started: (name: string, pid: number, isAgain: boolean) => void;
  died: (name: string, exit: ProcessExit) => void;
  failed: (name: string, error: unknown) => void;
}

/** Processes that are kept running together and stopped in order. */
export interface ProcessGroup {
  /** Starts a process and keeps it running. Throws where its first launch fails. */
  start: (plan: ProcessPlan) => Promise<Supervised>;
  /** Stops everything, wave by wave; what no wave names goes with the first one. */
  stop: (waves: readonly (readonly string[])[]) => Promise<void>;
  /** Kills everything at once, without waiting. */
  kill: () => void;
}

/** Makes an empty group. */
export const createProcessGroup = (events: GroupEvents): ProcessGroup => {
  const running: Supervised[] = [];
  const launching = new Set<Promise<unknown>>();
  const seen = new Set<string>();

  const start = async (plan: ProcessPlan): Promise<Supervised> => {
    const supervised = await supervise(plan, {
      started: (name, pid) => {
        events.started(name, pid, seen.has(name));
        seen.add(name);
      },
      died: events.died,
      failed: events.failed,
    });
    running.push(supervised);
    return supervised;
  };

  return {
    start: async (plan) => {
      const launch = start(plan);
      launching.add(launch);
      return launch.finally(() => launching.delete(launch));
    },
    stop: async (waves) => {
      // A launch that is under way would leave a process behind if nobody waited for it.
      await Promise.allSettled(launching);
      const named = new Set(waves.flat());
      const unnamed = running.map(({ name }) => name).filter((name) => !named.has(name));
      for (const wave of [unnamed, ...waves]) {
        await Promise.all(running.filter(({ name }) => wave.includes(name)).map((supervised) => supervised.stop()));
      }
    },
    kill: () => {
      for (const supervised of running) supervised.kill();
    },
  };
};

import type pg from 'pg';
import { realSleep } from '../engine/time.ts';

/** The server's processes, one for each connection. */
export interface Backends {
  /** Returns the backends that wait for no lock any more. */
  readonly listFree: (pids: readonly number[]) => Promise<ReadonlySet<number>>;
  /** Fails the backend's statement. */
  readonly cancel: (pid: number) => Promise<void>;
  /** Resolves when the backend has rolled back and ended. */
  readonly waitUntilGone: (pid: number) => Promise<void>;
  /**
   * Stops a backend that waits for a lock, so that it does not go on by itself when the lock is released. Which of several
   * waiting backends goes on first is the scheduler's choice.
   */
  readonly pause: (pid: number) => void;
  readonly resume: (pid: number) => void;
  readonly resumeAll: () => void;
  /**
   * Runs work that every process of the server must take part in, such as copying a database. Only during it does the WAL
   * writer run: which commits are on disk decides which hints a page gets, and so where the next rows go.
   */
  readonly withAllRunning: <T>(work: () => Promise<T>) => Promise<T>;
}

const GONE_LOOK_MS = 1;
const GONE_LOOKS_MAX = 20_000;

/** Observes and stops backends: `pg_blocking_pids` tells who waits for whom, and signals stop and continue a process. */
export const createBackends = async (control: pg.Client): Promise<Backends> => {
  const { rows: writers } = await control.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
  const paused = new Set<number>();
  const resume = (pid: number): void => {
    if (!paused.delete(pid)) return;
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has ended.
    }
  };
  const pause = (pid: number): void => {
    paused.add(pid);
    process.kill(pid, 'SIGSTOP');
  };
  const pauseWriters = async (): Promise<void> => {
    await control.query('CHECKPOINT');
    for (const { pid } of writers) pause(pid);
  };
  await pauseWriters();
  return {
    listFree: async (pids) => {
      const { rows } = await control.query({ ...LIST_FREE, values: [pids] });
      return new Set(rows.map(({ pid }) => pid));
    },
    cancel: async (pid) => {
      await control.query('SELECT pg_cancel_backend($1)', [pid]);
    },
    waitUntilGone: async (pid) => {
      for (let look = 0; look < GONE_LOOKS_MAX; look += 1) {
        const { rowCount } = await control.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid]);
        if (rowCount === 0) return;
        await realSleep(GONE_LOOK_MS);
      }
      throw new Error(`backend ${pid} does not end`);
    },
    pause,
    resume,
    resumeAll: () => {
      for (const pid of [...paused]) resume(pid);
    },
    withAllRunning: async (work) => {
      for (const { pid } of writers) resume(pid);
      try {
        return await work();
      } finally {
        await pauseWriters();
      }
    },
  };
};

const LIST_FREE = {
  name: 'list_free',
  text: 'SELECT pid FROM unnest($1::int[]) AS pid WHERE cardinality(pg_blocking_pids(pid)) = 0',
};

import type { LogFields } from '../logging/log-fields.ts';

export interface PeriodicWorkOptions {
  /** Name of the work in the log, as `component`. */
  readonly name: string;
  readonly intervalMs: number;
  /** `signal` aborts on stop; a long run should end early. */
  readonly run: (signal: AbortSignal) => Promise<void> | void;
  readonly logger: { error: (fields: LogFields, message: string) => void };
}

export interface PeriodicWork {
  /** Starts the next run now, or right after the current one. */
  readonly wake: () => void;
  /** Ends the pause and waits for the current run. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs the work now, then one interval after each run, never concurrently. After a failure, which is logged, the next
 * run waits for the whole interval even if woken: work that is woken often would otherwise fail as often. The timer
 * does not keep the process alive.
 */
export const runPeriodically = ({ name, intervalMs, run, logger }: PeriodicWorkOptions): PeriodicWork => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isWoken = false;
  let hasFailed = false;
  let endPause = (): void => undefined;

  const runOnce = async (): Promise<void> => {
    isWoken = false;
    hasFailed = false;
    try {
      await run(signal);
    } catch (error) {
      hasFailed = true;
      logger.error({ component: name, err: error }, 'periodic work failed; it will be tried again');
    }
  };
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, intervalMs).unref();
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await runOnce();
      if (!signal.aborted && (hasFailed || !isWoken)) await pause();
    }
  };

  // Deferred: the first run may wake the work that this call returns.
  const running = Promise.resolve().then(loop);
  return {
    wake() {
      isWoken = true;
      if (!hasFailed) endPause();
    },
    async stop() {
      stopping.abort();
      endPause();
      await running;
    },
  };
};

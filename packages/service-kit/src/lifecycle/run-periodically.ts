import type { LogFields } from '../logging/log-fields.ts';

export interface PeriodicWorkOptions {
  /** Names the work in the log, as `component`. */
  readonly name: string;
  readonly intervalMs: number;
  /** `signal` aborts when the work is stopped: a long run ends early by it. */
  readonly run: (signal: AbortSignal) => Promise<void> | void;
  readonly logger: { error(fields: LogFields, message: string): void };
}

export interface PeriodicWork {
  /** Starts the next run now, or right after the present one. */
  wake(): void;
  /** Ends the pause, and waits for the present run. */
  stop(): Promise<void>;
}

/**
 * Runs the work now and then one interval after each run has ended, so never twice at a time. A failure is logged, and the
 * next run waits for the whole interval, even if it is woken: work that is woken often would otherwise fail as often.
 * The timer keeps no process alive.
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

  // Not within this call: the first run may wake the work that is returned here.
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

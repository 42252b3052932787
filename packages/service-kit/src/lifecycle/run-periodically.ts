import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logging/create-logger.ts';

export interface PeriodicWork {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly logger: Logger;
}

/** Runs the work at once and then after every interval, one run at a time; logs a failure and tries again. */
export const runPeriodically = ({ name, intervalMs, run, logger }: PeriodicWork): { stop(): Promise<void> } => {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await run().catch((error: unknown) => {
        logger.error({ component: name, err: error }, 'periodic work failed; it will be tried again');
      });
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
};

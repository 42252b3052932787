import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@svc/service-kit';

/** Work that is done again and again. */
export interface PeriodicWork {
  readonly name: string;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
  readonly logger: Logger;
}

/** Does the work now and then after every interval, never twice at a time; a failure is logged and tried again. */
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

import { AppError } from '@svc/service-kit';

/** Runs work in its turn. Throws `service_unavailable` if too much is waiting. */
export type BoundedQueue = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a FIFO queue with at most `runningMax` running and `waitingMax` waiting tasks. */
export const createBoundedQueue = (options: {
  runningMax: number;
  waitingMax: number;
  /** Message for callers that are refused. */
  refusal: string;
}): BoundedQueue => {
  const { runningMax, waitingMax, refusal } = options;
  let running = 0;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return async (work) => {
    if (running < runningMax) running += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new AppError('service_unavailable', refusal);
    try {
      return await work();
    } finally {
      release();
    }
  };
};

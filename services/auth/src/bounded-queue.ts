import { AppError } from '@svc/service-kit';

/** Runs work in its turn. Throws `service_unavailable` if too much is waiting. */
export type BoundedQueue = <T>(work: () => Promise<T>) => Promise<T>;

interface QueueLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Message for callers that are refused. */
  readonly refusal: string;
}

/** Creates a FIFO queue with at most `runningMax` running and `waitingMax` waiting tasks. */
export const createBoundedQueue = (options: QueueLimits): BoundedQueue => {
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

/** Runs work in the queue of its key, as BoundedQueue. */
export type KeyedQueues = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates queues that exist while they are used, one for each key. */
export const createKeyedQueues = (limits: QueueLimits): KeyedQueues => {
  const queues = new Map<string, { readonly queue: BoundedQueue; users: number }>();
  return async (key, work) => {
    const entry = queues.get(key) ?? { queue: createBoundedQueue(limits), users: 0 };
    entry.users += 1;
    queues.set(key, entry);
    try {
      return await entry.queue(work);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) queues.delete(key);
    }
  };
};

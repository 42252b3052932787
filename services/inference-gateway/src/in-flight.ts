/** Requests in flight. They continue after their callers have disconnected, and a shutdown waits for them. */
export interface InFlight {
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isIdle: () => boolean;
  /** Resolves when no request is left; rejects after `timeoutMs`. */
  readonly idle: (timeoutMs: number) => Promise<void>;
}

/** Creates a counter of requests, each counted until its usage is recorded. */
export const createInFlight = (): InFlight => {
  let count = 0;
  let onIdle: (() => void) | undefined;
  return {
    run: async (work) => {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0) onIdle?.();
      }
    },
    isIdle: () => count === 0,
    idle: (timeoutMs) => {
      if (count === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${count} requests did not end in time`)), timeoutMs);
        onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
};

/** Work that goes on after its caller has left, and that a stop waits for. */
export interface InFlight {
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isIdle: () => boolean;
  /** Resolves when nothing is under way any more; rejects after `timeoutMs`. */
  readonly idle: (timeoutMs: number) => Promise<void>;
}

/** Counts requests from their first step to the end of their bookkeeping. */
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

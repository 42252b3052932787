/** A bell that is heard also by who comes to listen a moment too late. */
export interface Alarm {
  readonly ring: () => void;
  /** Forgets what has rung so far. */
  readonly reset: () => void;
  /** Until it rings, or has rung since `reset`, or the time is over. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** Makes an alarm that has not rung. */
export const createAlarm = (): Alarm => {
  let hasRung = false;
  let wake = (): void => undefined;
  return {
    ring: () => {
      hasRung = true;
      wake();
    },
    reset: () => {
      hasRung = false;
    },
    wait: (milliseconds) => {
      if (hasRung) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
};

/** A wait that can be cut short. A ring while nobody waits cuts the next wait short. */
export interface Alarm {
  ring(): void;
  /** Ends this wait and every later one at once. */
  silence(): void;
  wait(milliseconds: number): Promise<void>;
}

/** Makes an alarm for one waiter. */
export const createAlarm = (): Alarm => {
  let rung = false;
  let silenced = false;
  let wake: (() => void) | undefined;
  const ring = () => {
    rung = true;
    wake?.();
  };
  return {
    ring,
    silence() {
      silenced = true;
      ring();
    },
    async wait(milliseconds) {
      if (silenced) return;
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      wake = undefined;
      rung = false;
    },
  };
};

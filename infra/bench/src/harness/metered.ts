import type { Round } from './load.ts';
import { processorMicroseconds } from './processor-time.ts';

/** A round that also measures a server's processor time. */
export interface Metered {
  readonly round: () => Promise<Round>;
  /** Discards the rounds so far, such as warm-up rounds. */
  readonly reset: () => void;
  /** Microseconds of the server's processor time per call, over all rounds. */
  readonly perCall: () => number;
}

/** Sums the processor time of a server over rounds. This figure is the least sensitive to a busy machine. */
export const metered = (pid: number, run: () => Promise<Round>): Metered => {
  let microseconds = 0;
  let calls = 0;
  return {
    round: async () => {
      const before = processorMicroseconds(pid);
      const round = await run();
      microseconds += processorMicroseconds(pid) - before;
      calls += round.milliseconds.length;
      return round;
    },
    reset: () => {
      [microseconds, calls] = [0, 0];
    },
    perCall: () => microseconds / calls,
  };
};

import type { Round } from './load.ts';
import { processorMicroseconds } from './processor-time.ts';

/** A round that also counts what it costs a server. */
export interface Metered {
  round(): Promise<Round>;
  /** Forgets the rounds so far, such as those that warm up. */
  reset(): void;
  /** Microseconds of the server's processor time per call, over all rounds. */
  perCall(): number;
}

/** Adds up the processor time of a server over rounds: the figure that a busy machine disturbs least. */
export const metered = (pid: number, run: () => Promise<Round>): Metered => {
  let [microseconds, calls] = [0, 0];
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

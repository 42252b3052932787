import { setTimeout as sleep } from 'node:timers/promises';
import { foreignShare, processorMicroseconds } from './resources.ts';
import { median, type Summary, summarize } from './statistics.ts';

/** Result of one round of load. */
export interface Round {
  /** Calls per second. */
  readonly rate: number;
  readonly milliseconds: readonly number[];
}

/** Runs a closed loop: each caller has one open call at a time. A call returns its measured duration. */
export const closedLoop = async (
  options: { callers: number; seconds: number },
  call: (caller: number) => Promise<number | undefined>,
): Promise<Round> => {
  const milliseconds: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + options.seconds * 1000;
  await Promise.all(
    Array.from({ length: options.callers }, async (_, caller) => {
      while (performance.now() < endsAt) {
        const taken = await call(caller);
        if (taken === undefined) return;
        milliseconds.push(taken);
      }
    }),
  );
  return { rate: (milliseconds.length / (performance.now() - startedAt)) * 1000, milliseconds };
};

/** Returns the milliseconds of a call. */
export const timed = async (call: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
};

/** A target over several rounds: the median rate, and the durations of all rounds together. */
export interface Measured extends Summary {
  readonly rate: number;
}

/** Runs each target once per round, in turn, so that disturbances affect all of them alike. */
export const interleave = async <Name extends string>(
  targets: Readonly<Record<Name, () => Promise<Round>>>,
  rounds: number,
): Promise<{ results: Record<Name, Measured>; foreign: number }> => {
  // The keys of the record are the names.
  const names = Object.keys(targets) as Name[];
  const seen = new Map<Name, Round[]>(names.map((name) => [name, []]));
  const shares: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    shares.push(await foreignShare(300));
    for (const name of names) {
      await sleep(50);
      seen.get(name)?.push(await targets[name]());
    }
  }
  const results = Object.fromEntries(names.map((name) => [name, combine(seen.get(name) ?? [])]));
  // Built from these names one line above.
  return { results: results as Record<Name, Measured>, foreign: median(shares) };
};

const combine = (rounds: readonly Round[]): Measured => ({
  ...summarize(rounds.flatMap(({ milliseconds }) => milliseconds)),
  rate: median(rounds.map(({ rate }) => rate)),
});

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

import { setTimeout as sleep } from 'node:timers/promises';
import { foreignShare } from './processor-time.ts';
import { median, type Summary, summarize } from './statistics.ts';

/** What one round of load came to. */
export interface Round {
  /** Calls done in a second. */
  readonly rate: number;
  readonly milliseconds: readonly number[];
}

/** A closed loop: so many callers, each with one call open at a time, for so long. A call answers what is timed of it. */
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

/** Milliseconds that a call takes. */
export const timed = async (call: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
};

/** A target over several rounds: the middle rate, and the durations of all rounds together. */
export interface Measured extends Summary {
  readonly rate: number;
}

/** Runs each target once per round, in turn, so that what disturbs the machine disturbs all of them alike. */
export const interleave = async <Name extends string>(
  targets: Readonly<Record<Name, () => Promise<Round>>>,
  rounds: number,
): Promise<{ results: Record<Name, Measured>; foreign: number }> => {
  // The keys of a literal record are its names.
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
  // Built from the very names, one line above.
  return { results: results as Record<Name, Measured>, foreign: median(shares) };
};

const combine = (rounds: readonly Round[]): Measured => ({
  ...summarize(rounds.flatMap(({ milliseconds }) => milliseconds)),
  rate: median(rounds.map(({ rate }) => rate)),
});

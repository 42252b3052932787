import { setTimeout as sleep } from 'node:timers/promises';

/** A clock that moves only on demand. Call it to get the current time. */
export interface TestClock {
  (): Date;
  readonly advanceMs: (milliseconds: number) => void;
  readonly set: (time: Date | string) => void;
}

/** Creates a clock that shows `start`. */
export const testClock = (start: Date | string = '2026-10-01T12:00:00.000Z'): TestClock => {
  let now = new Date(start).getTime();
  return Object.assign(() => new Date(now), {
    advanceMs(milliseconds: number) {
      now += milliseconds;
    },
    set(time: Date | string) {
      now = new Date(time).getTime();
    },
  });
};

/** Patience with a busy machine, not a bound on how long something may take. */
const TIMEOUT_MS = 60_000;
/** Grows with the wait: on a busy machine, what looks often takes the time of what it waits for. */
const INTERVAL_MS = { first: 10, growth: 1.25, last: 200 } as const;

interface WaitOptions {
  readonly timeoutMs?: number | undefined;
  readonly intervalMs?: number | undefined;
}

/**
 * Waits until `condition` returns a value other than false, undefined or null, and returns it. Retries a condition that
 * throws. Throws after the timeout, with the last error as cause.
 */
export const waitFor = async <T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, false | undefined | null>> => {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  let intervalMs: number = INTERVAL_MS.first;
  for (;;) {
    try {
      const value = await condition();
      // The comparison excludes the three values.
      if (value !== false && value !== undefined && value !== null)
        return value as Exclude<T, false | undefined | null>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`Timed out after ${timeoutMs} ms waiting for ${condition}`, { cause });
    await sleep(options.intervalMs ?? intervalMs);
    intervalMs = Math.min(intervalMs * INTERVAL_MS.growth, INTERVAL_MS.last);
  }
};

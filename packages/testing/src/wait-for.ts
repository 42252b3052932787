import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 5_000;
const INTERVAL_MS = 10;

/** Bounds of one wait. */
export interface WaitOptions {
  readonly timeoutMs?: number | undefined;
  readonly intervalMs?: number | undefined;
}

/**
 * Waits until `condition` answers something other than false, undefined or null, and answers that. A condition that
 * throws is asked again. Throws after the time-out, with what the condition threw last as its cause.
 */
export const waitFor = async <T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, false | undefined | null>> => {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      // The three excluded values are the ones just compared with.
      if (value !== false && value !== undefined && value !== null)
        return value as Exclude<T, false | undefined | null>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${condition}`, { cause });
    await sleep(options.intervalMs ?? INTERVAL_MS);
  }
};

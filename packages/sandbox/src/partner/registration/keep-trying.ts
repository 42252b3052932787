import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 30_000;

export interface KeepTryingOptions {
  readonly signal: AbortSignal;
  /** Called after every failure with the pause before the next attempt. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Retries with growing pauses until the work succeeds. Rejects only if the signal aborts. */
export const keepTrying = async <T>(work: () => Promise<T>, options: KeepTryingOptions): Promise<T> => {
  const { signal, onFailure, wait = (ms) => sleep(ms, undefined, { signal }) } = options;
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error, pauseMs);
      await wait(pauseMs, signal);
    }
  }
};

import type { WebhookReceiver } from './webhook-receiver.ts';

const INTERVAL_SECONDS = 60;
const FIRST_RETRY_MS = 1_000;

export interface KeepCaughtUpOptions {
  /** Pause between two rounds. Defaults to 60. */
  readonly everySeconds?: number | undefined;
  /** Called after a failed round. The next one starts where it stopped, after a second at first, then later. */
  readonly onError: (error: unknown) => void;
}

export interface CaughtUp {
  /** Stops after the event under way. */
  stop(): Promise<void>;
}

/**
 * Catches a receiver up now and then regularly, so that a repaired receiver need not wait for the next delivery attempt.
 * Any number of processes may do so. Where processes are short-lived, call `receiver.catchUp()` from a timer instead.
 */
export const keepCaughtUp = (receiver: WebhookReceiver, options: KeepCaughtUpOptions): CaughtUp => {
  const intervalMs = (options.everySeconds ?? INTERVAL_SECONDS) * 1000;
  const stopping = new AbortController();
  let failures = 0;

  const runRound = async (): Promise<void> => {
    try {
      await receiver.catchUp({ signal: stopping.signal });
      failures = 0;
    } catch (error) {
      if (stopping.signal.aborted) return;
      failures += 1;
      options.onError(error);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await runRound();
      const retryMs = FIRST_RETRY_MS * 2 ** (failures - 1);
      await pause(failures === 0 ? intervalMs : Math.min(retryMs, intervalMs), stopping.signal);
    }
  };

  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });

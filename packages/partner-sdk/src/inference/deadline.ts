/** A time limit on one exchange, joined with the caller's own signal. */
export interface Deadline {
  /** Aborts when the time is over or the caller aborts. */
  readonly signal: AbortSignal;
  /** Whether it was the time that aborted. */
  readonly isOver: () => boolean;
  /** Throws the caller's reason where it was the caller who aborted. */
  readonly throwIfCallerAborted: () => void;
  /** Stops the time, until `renew`. */
  readonly pause: () => void;
  /** Starts the time anew: something came. */
  readonly renew: () => void;
  /** Ends it; aborts nothing. */
  readonly clear: () => void;
  /** Gives the exchange up. */
  readonly abort: () => void;
}

/** Starts a time limit of so many milliseconds. */
export const startDeadline = (milliseconds: number, caller?: AbortSignal): Deadline => {
  const controller = new AbortController();
  let isOver = false;
  const start = () =>
    setTimeout(() => {
      isOver = true;
      controller.abort();
    }, milliseconds);
  let timer = start();
  const onCallerAbort = (): void => controller.abort(caller?.reason);
  if (caller?.aborted === true) onCallerAbort();
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    throwIfCallerAborted: () => caller?.throwIfAborted(),
    pause: () => clearTimeout(timer),
    renew: () => {
      clearTimeout(timer);
      timer = start();
    },
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCallerAbort);
    },
    abort: () => controller.abort(),
  };
};

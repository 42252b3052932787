/** Time limit of one exchange, combined with the caller's own signal. */
export interface Deadline {
  /** Aborts on timeout or when the caller aborts. */
  readonly signal: AbortSignal;
  /** True if the timeout caused the abort. */
  readonly isOver: () => boolean;
  /** Throws the caller's reason if the caller caused the abort. */
  readonly throwIfCallerAborted: () => void;
  /** Stops the clock until `renew`. */
  readonly pause: () => void;
  /** Restarts the clock after data has arrived. */
  readonly renew: () => void;
  /** Ends the limit without an abort. */
  readonly clear: () => void;
  /** Aborts the exchange. */
  readonly abort: () => void;
}

/** Starts a time limit. */
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

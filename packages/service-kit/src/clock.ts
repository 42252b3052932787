/** Returns the current time. Passed in as a dependency, so that tests can control it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/**
 * Runs a call with a signal that is aborted after `ms`. Its timer ends with the call. The timer of
 * `AbortSignal.timeout` would outlive the call and keep it in memory (docs/adr/0006).
 */
export const withDeadline = async <T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('The call timed out.', 'TimeoutError')), ms);
  try {
    return await call(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
};

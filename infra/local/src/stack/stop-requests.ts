import { exists, listPackageManagers } from '../process/package-managers.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const MANAGER_POLL_MS = 500;
/** One Ctrl-C can arrive several times: from the terminal and from package managers. */
const ECHO_MS = 1_000;

/**
 * Returns a signal that aborts at the first request to stop: a signal, or the end of the foreground process or of a package
 * manager above it. `again` is called for a second signal.
 */
export const listenForStop = (handlers: { first: () => void; again: () => void }): AbortSignal => {
  const stop = new AbortController();
  let askedAt = 0;
  const ask = (): void => {
    if (stop.signal.aborted) return;
    askedAt = performance.now();
    handlers.first();
    stop.abort();
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (stop.signal.aborted && performance.now() - askedAt > ECHO_MS) handlers.again();
      ask();
    });
  }
  process.on('disconnect', ask);
  const managers = listPackageManagers(process.ppid);
  const poll = setInterval(() => {
    if (!managers.every(exists)) ask();
  }, MANAGER_POLL_MS);
  poll.unref();
  return stop.signal;
};

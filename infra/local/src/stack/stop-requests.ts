import { exists, listPackageManagers } from '../process/package-managers.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const MANAGER_POLL_MS = 500;
/** One Ctrl-C can arrive several times, through the terminal and through package managers. */
const ECHO_MS = 1_000;

/** What a person, or the end of whoever started us, asks for. */
export interface StopRequests {
  /** Aborts at the first request. */
  signal: AbortSignal;
}

/** Listens for requests to stop: signals, the end of the parent that watches us, the end of a package manager that started us. */
export const listenForStop = (handlers: { first: () => void; again: () => void }): StopRequests => {
  const asked = new AbortController();
  let askedAt = 0;
  const ask = (): void => {
    if (asked.signal.aborted) return;
    askedAt = performance.now();
    handlers.first();
    asked.abort();
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (asked.signal.aborted && performance.now() - askedAt > ECHO_MS) handlers.again();
      ask();
    });
  }
  process.on('disconnect', ask);
  const managers = listPackageManagers(process.ppid);
  const poll = setInterval(() => {
    if (!managers.every(exists)) ask();
  }, MANAGER_POLL_MS);
  poll.unref();
  return { signal: asked.signal };
};

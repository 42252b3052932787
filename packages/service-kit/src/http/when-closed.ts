import type { ServerResponse } from 'node:http';

const KEY = Symbol('svcWhenClosed');

interface Watched {
  [KEY]?: (() => void)[];
}

/**
 * Calls `run` once when the response has been sent or the caller has disconnected. All who wait for that share one
 * listener, and are called in the order in which they asked.
 */
export const whenClosed = (res: ServerResponse & Watched, run: () => void): void => {
  const waiting = res[KEY];
  if (waiting !== undefined) {
    waiting.push(run);
    return;
  }
  const runs = [run];
  res[KEY] = runs;
  res.once('close', () => {
    for (const each of runs) each();
  });
};

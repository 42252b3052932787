/** The functions of the real event loop, kept before the simulation replaces the globals. */
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const realSetImmediate = globalThis.setImmediate;
const realPerformanceNow = performance.now.bind(performance);

/** Waits in real time, for answers of PostgreSQL. */
export const realSleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    realSetTimeout(resolve, milliseconds);
  });

/** Calls back in real time, unless it is cleared before. */
export const realTimer = (milliseconds: number, callback: () => void): { readonly clear: () => void } => {
  const timer = realSetTimeout(callback, milliseconds);
  return { clear: () => realClearTimeout(timer) };
};

/** Resolves after all microtasks and `process.nextTick` callbacks have run. */
export const realTurn = (): Promise<void> =>
  new Promise((resolve) => {
    realSetImmediate(resolve);
  });

/** Monotonic real time, for figures and for the deadline of a step. */
export const realNowMs = (): number => realPerformanceNow();

/**
 * Creates a clock that never goes back, and counts the time in which the machine was suspended, in milliseconds. The monotonic
 * clock stands still then, while billing ends the leases of this process.
 */
export const createLeaseClock = (
  wallMs: () => number = Date.now,
  monotonicMs: () => number = () => performance.now(),
): (() => number) => {
  let nowMs = 0;
  let lastWallMs = wallMs();
  let lastMonotonicMs = monotonicMs();
  return () => {
    const wall = wallMs();
    const monotonic = monotonicMs();
    nowMs += Math.max(0, wall - lastWallMs, monotonic - lastMonotonicMs);
    lastWallMs = wall;
    lastMonotonicMs = monotonic;
    return nowMs;
  };
};

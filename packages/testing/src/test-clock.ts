/** A clock that moves only on demand. Call it to get the current time. */
export interface TestClock {
  (): Date;
  readonly advanceMs: (milliseconds: number) => void;
  readonly set: (time: Date | string) => void;
}

/** Creates a clock that shows `start`. */
export const testClock = (start: Date | string = '2026-10-01T12:00:00.000Z'): TestClock => {
  let now = new Date(start).getTime();
  return Object.assign(() => new Date(now), {
    advanceMs(milliseconds: number) {
      now += milliseconds;
    },
    set(time: Date | string) {
      now = new Date(time).getTime();
    },
  });
};

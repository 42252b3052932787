/** A clock that stands still until it is moved. Call it for the time now. */
export interface TestClock {
  (): Date;
  advanceMs(milliseconds: number): void;
  set(time: Date | string): void;
}

/** A clock that shows `start`. */
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

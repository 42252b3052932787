import { expect, test } from 'vitest';
import { createLeaseClock } from './open-leases.ts';

test.each([
  ['a second', 1_000, 1_000, 1_000],
  ['a minute of suspension', 60_000, 0, 60_000],
  ['a clock that is set back', -3_600_000, 5, 5],
  ['a clock that is set forward', 3_600_000, 5, 3_600_000],
])('counts %s', (_what, wall, monotonic, elapsed) => {
  const clocks = { wall: 1_000_000, monotonic: 7 };
  const clock = createLeaseClock(
    () => clocks.wall,
    () => clocks.monotonic,
  );
  const before = clock();
  clocks.wall += wall;
  clocks.monotonic += monotonic;
  expect(clock() - before).toBe(elapsed);
});

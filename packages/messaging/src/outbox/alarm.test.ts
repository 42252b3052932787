import { expect, test } from 'vitest';
import { createAlarm } from './alarm.ts';

const LONG_MS = 10_000;

const elapsedMs = async (work: Promise<void>): Promise<number> => {
  const start = performance.now();
  await work;
  return performance.now() - start;
};

test('a ring cuts a wait short, also one that came before it, and only one', async () => {
  const alarm = createAlarm();
  const waiting = elapsedMs(alarm.wait(LONG_MS));
  alarm.ring();
  expect(await waiting).toBeLessThan(1_000);
  alarm.ring();
  alarm.ring();
  expect(await elapsedMs(alarm.wait(LONG_MS))).toBeLessThan(1_000);
  expect(await elapsedMs(alarm.wait(30))).toBeGreaterThan(20);
});

test('silenced, it never waits again', async () => {
  const alarm = createAlarm();
  const waiting = elapsedMs(alarm.wait(LONG_MS));
  alarm.silence();
  expect(await waiting).toBeLessThan(1_000);
  for (let index = 0; index < 3; index += 1) expect(await elapsedMs(alarm.wait(LONG_MS))).toBeLessThan(1_000);
});

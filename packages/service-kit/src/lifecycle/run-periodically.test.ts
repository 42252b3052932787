import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runPeriodically } from './run-periodically.ts';

const INTERVAL_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts work whose runs the test ends. */
const startHeld = () => {
  const runs: { end: () => void; fail: () => void; signal: AbortSignal }[] = [];
  const lines: unknown[] = [];
  const work = runPeriodically({
    name: 'sweep',
    intervalMs: INTERVAL_MS,
    run: (signal) =>
      new Promise((resolve, reject) => {
        runs.push({ end: resolve, fail: () => reject(new Error('no')), signal });
      }),
    logger: { error: (fields, message) => lines.push({ ...fields, message }) },
  });
  const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
  return { runs, lines, work, pass };
};

test('runs at once and again one interval after each run', async () => {
  const { runs, pass } = startHeld();
  await pass(INTERVAL_MS * 3);
  expect(runs.length).toBe(1);
  runs[0]?.end();
  await pass(INTERVAL_MS - 1);
  expect(runs.length).toBe(1);
  await pass(1);
  expect(runs.length).toBe(2);
});

test('runs exactly once more if it is woken several times during a run', async () => {
  const { runs, work, pass } = startHeld();
  await pass(0);
  for (let count = 0; count < 3; count += 1) work.wake();
  expect(runs.length).toBe(1);
  runs[0]?.end();
  await pass(0);
  expect(runs.length).toBe(2);
  runs[1]?.end();
  await pass(0);
  expect(runs.length).toBe(2);
});

test('ends its pause on wake-up', async () => {
  const { runs, work, pass } = startHeld();
  await pass(0);
  runs[0]?.end();
  await pass(1);
  work.wake();
  await pass(0);
  expect(runs.length).toBe(2);
});

test('logs a failure and retries after the interval, even if woken', async () => {
  const { runs, lines, work, pass } = startHeld();
  await pass(0);
  work.wake();
  runs[0]?.fail();
  await pass(0);
  work.wake();
  await pass(INTERVAL_MS - 1);
  expect(runs.length).toBe(1);
  expect(lines).toMatchObject([{ component: 'sweep', err: new Error('no') }]);
  await pass(1);
  expect(runs.length).toBe(2);
});

test('aborts the signal on stop and waits for the current run', async () => {
  const { runs, work, pass } = startHeld();
  await pass(0);
  let isStopped = false;
  const stopped = work.stop().then(() => {
    isStopped = true;
  });
  await pass(0);
  expect([runs[0]?.signal.aborted, isStopped]).toEqual([true, false]);
  work.wake();
  runs[0]?.end();
  await stopped;
  await pass(INTERVAL_MS);
  expect(runs.length).toBe(1);
});

test('stops during a pause without another run', async () => {
  const { runs, work, pass } = startHeld();
  await pass(0);
  runs[0]?.fail();
  await pass(0);
  await work.stop();
  expect(runs.length).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

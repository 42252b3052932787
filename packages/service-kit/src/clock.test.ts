import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withDeadline } from './clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ['resolves', async () => 'done'],
  ['rejects', async () => Promise.reject(new Error('refused'))],
])('leaves no timer behind if the call %s', async (_how, call) => {
  await withDeadline(1_000, call).catch(() => undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('aborts a call at its deadline', async () => {
  const call = withDeadline(
    1_000,
    (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const ended = expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  await vi.advanceTimersByTimeAsync(1_000);
  await ended;
});

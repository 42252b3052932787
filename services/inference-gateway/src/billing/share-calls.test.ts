import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { shareCalls } from './share-calls.ts';

/** Calls as they were made; each is answered at once, or when the test says so. */
let calls: number[][];
let ends: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
  calls = [];
  ends = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const sharing = ({ isAnswered = true } = {}) =>
  shareCalls<number>({
    membersMax: 64,
    make: async (members) => {
      calls.push([...members]);
      if (!isAnswered) await new Promise<void>((resolve) => ends.push(resolve));
    },
  });
/** One more of many, as they come at a thousand a second. */
const next = async (share: (member: number) => boolean, member: number): Promise<void> => {
  expect(share(member)).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
};
const come = async (share: (member: number) => boolean, from: number, count: number): Promise<void> => {
  for (let member = from; member < from + count; member += 1) await next(share, member);
};

test('what comes alone goes at once, up to 64 in a tenth of a second', async () => {
  const share = sharing();
  await come(share, 0, 64);
  expect(calls).toEqual(Array.from({ length: 64 }, (_, member) => [member]));
});

test('in a crowd calls begin 8 ms apart, each with all that came meanwhile', async () => {
  const share = sharing();
  await come(share, 0, 300);
  const late = calls.filter(([first = 0]) => first > 100);
  expect(late.length).toBeGreaterThan(20);
  expect(late.slice(0, -1).map(({ length }) => length)).toEqual(late.slice(1).map(() => 8));
  await vi.advanceTimersByTimeAsync(8);
  expect(calls.flat()).toEqual(Array.from({ length: 300 }, (_, member) => member));
});

test('in a crowd a call with enough members waits for no more', async () => {
  const share = sharing();
  await come(share, 0, 100);
  for (let member = 100; member < 116; member += 1) share(member);
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.flat()).toEqual(Array.from({ length: 116 }, (_, member) => member));
  expect(calls.at(-1)?.length).toBeGreaterThanOrEqual(16);
});

test('once the crowd is over, what comes alone goes at once again', async () => {
  const share = sharing();
  await come(share, 0, 200);
  await vi.advanceTimersByTimeAsync(200);
  const made = calls.length;
  await come(share, 200, 3);
  expect(calls.slice(made)).toEqual([[200], [201], [202]]);
});

test('calls without an answer keep those waiting that come after them, but not for long', async () => {
  const share = sharing({ isAnswered: false });
  await come(share, 0, 5);
  expect(calls).toEqual([[0], [1]]);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.at(-1)).toEqual([2, 3, 4]);
  await come(share, 5, 2);
  expect(calls).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(25);
  expect(calls.flat()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

import { afterEach, expect, test, vi } from 'vitest';
import { type BatchingOptions, batchCalls, wasNeverSent } from './batch-calls.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Starts batches that the test ends. A call is `key:name`. */
const heldBatches = (options: Partial<BatchingOptions<string, string>> = {}) => {
  const batches: { calls: readonly string[]; end: () => void }[] = [];
  const call = batchCalls<string, string>({
    run: async (calls) => {
      await new Promise<void>((end) => batches.push({ calls, end }));
      if (calls.some((name) => name.includes('bad'))) throw new Error('no');
      return calls.map((name) => `${name}!`);
    },
    callsMax: 64,
    waitingMax: 2_048,
    ...options,
  });
  return { batches, call, started: () => batches.map(({ calls }) => calls) };
};
const keyed = { keyOf: (call: string) => call.split(':')[0] ?? '', batchesMax: 2 };
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test('runs calls of one turn as one batch and returns each call its result', async () => {
  const { batches, call, started } = heldBatches();
  const results = ['a', 'b', 'c'].map(call);
  await turn();
  expect(started()).toEqual([['a', 'b', 'c']]);
  batches[0]?.end();
  expect(await Promise.all(results)).toEqual(['a!', 'b!', 'c!']);
});

test('gathers calls that arrive during a batch into the next one', async () => {
  const { batches, call, started } = heldBatches();
  const first = [call('a'), call('b')];
  await turn();
  const second = [call('c'), call('d')];
  await turn();
  expect(started()).toEqual([['a', 'b']]);
  batches[0]?.end();
  await turn();
  expect(started().at(-1)).toEqual(['c', 'd']);
  batches[1]?.end();
  expect(await Promise.all([...first, ...second])).toEqual(['a!', 'b!', 'c!', 'd!']);
});

test('runs one batch per key at a time without delaying other keys', async () => {
  const { batches, call, started } = heldBatches(keyed);
  void call('hot:1');
  await turn();
  void call('hot:2');
  void call('cool:1');
  await turn();
  expect(started()).toEqual([['hot:1'], ['cool:1']]);
  batches[1]?.end();
  await turn();
  expect(batches).toHaveLength(2);
  batches[0]?.end();
  await turn();
  expect(started().at(-1)).toEqual(['hot:2']);
});

test('runs many calls for one key as a separate batch', async () => {
  const { call, started } = heldBatches(keyed);
  void call('first:1');
  for (let count = 1; count <= 40; count += 1) void call(`hot:${count}`);
  void call('last:1');
  await turn();
  expect(started().map(({ length }) => length)).toEqual([2, 40]);
  expect(started()[0]).toEqual(['first:1', 'last:1']);
});

test('refuses calls beyond the limit of a key and of all keys', async () => {
  const { call } = heldBatches({ ...keyed, waitingMax: 10, waitingPerKeyMax: 5 });
  const flood = Array.from({ length: 7 }, (_, count) => call(`hot:${count}`).catch(({ code }) => code));
  expect(await Promise.all(flood.slice(5))).toEqual(['service_unavailable', 'service_unavailable']);
  for (let count = 0; count < 5; count += 1) void call(`cool ${count}:1`);
  await expect(call('late:1')).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('never runs more calls in a batch than its limit', async () => {
  const { batches, call, started } = heldBatches({ callsMax: 64 });
  const results = Array.from({ length: 300 }, (_, index) => call(String(index)));
  await turn();
  for (let count = 0; count < 5; count += 1) {
    batches[count]?.end();
    await turn();
  }
  expect(started().map(({ length }) => length)).toEqual([64, 64, 64, 64, 44]);
  expect(await Promise.all(results)).toHaveLength(300);
});

test('fails the calls of a failed batch, and no others, if the error is not retryable', async () => {
  const { batches, call } = heldBatches();
  const failing = [call('bad'), call('a')].map((result) => result.catch((error: Error) => error.message));
  await turn();
  const next = call('b');
  batches[0]?.end();
  await turn();
  batches[1]?.end();
  expect(await Promise.all(failing)).toEqual(['no', 'no']);
  expect(await next).toBe('b!');
});

test('retries each call of a failed batch alone if the error is retryable, so only the faulty call fails', async () => {
  const ran: (readonly string[])[] = [];
  const call = batchCalls<string, string>({
    ...keyed,
    callsMax: 64,
    waitingMax: 100,
    isRetryable: (_error, callsCount) => callsCount > 1,
    run: async (calls) => {
      ran.push(calls);
      if (calls.includes('b:bad')) throw new Error('no');
      return calls;
    },
  });
  const results = await Promise.allSettled(['a:1', 'b:bad', 'c:1'].map(call));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(ran).toEqual([['a:1', 'b:bad', 'c:1'], ['a:1'], ['b:bad'], ['c:1']]);
});

test('gives up a call that fails in a batch and three times alone', async () => {
  let runs = 0;
  const call = batchCalls<string, string>({
    callsMax: 64,
    waitingMax: 100,
    isRetryable: () => true,
    run: async () => {
      runs += 1;
      throw new Error('held');
    },
  });
  await expect(call('a')).rejects.toThrow('held');
  expect(runs).toBe(4);
});

test('delays only the calls of the same key while a call runs alone', async () => {
  const made: string[] = [];
  const held = Promise.withResolvers<void>();
  const call = batchCalls<string, string>({
    ...keyed,
    callsMax: 64,
    waitingMax: 100,
    isRetryable: () => true,
    run: async (calls) => {
      const isHeld = calls.some((name) => name.startsWith('held'));
      if (isHeld && calls.length > 1) throw new Error('held');
      if (isHeld) await held.promise;
      made.push(...calls);
      return calls;
    },
  });
  const waiting = ['held 1:1', 'held 2:1', 'held 3:1'].map(call);
  expect(await call('cool:beside')).toBe('cool:beside');
  waiting.push(call('held 1:2'));
  expect(await call('cool:after')).toBe('cool:after');
  expect(made).toEqual(['cool:beside', 'cool:after']);
  held.resolve();
  await Promise.all(waiting);
  expect(made.indexOf('held 1:2')).toBeGreaterThan(made.indexOf('held 1:1'));
});

test('starts a lone call at once and the next batch after paceMs', async () => {
  vi.useFakeTimers();
  const { batches, call, started } = heldBatches({ callsMax: 3, paceMs: 40 });
  void call('a');
  await vi.advanceTimersByTimeAsync(0);
  expect(started()).toEqual([['a']]);
  batches[0]?.end();
  for (const name of ['b', 'c']) void call(name);
  await vi.advanceTimersByTimeAsync(39);
  expect(started()).toEqual([['a']]);
  await vi.advanceTimersByTimeAsync(1);
  expect(started()).toEqual([['a'], ['b', 'c']]);
});

test('starts before paceMs has passed if a full batch is waiting', async () => {
  const { batches, call, started } = heldBatches({ callsMax: 3, paceMs: 3_600_000 });
  void call('a');
  await turn();
  for (const name of ['b', 'c', 'd']) void call(name);
  batches[0]?.end();
  await turn();
  expect(started()).toEqual([['a'], ['b', 'c', 'd']]);
});

test('starts before paceMs has passed if the batch becomes full while it waits', async () => {
  const { batches, call, started } = heldBatches({ callsMax: 3, paceMs: 3_600_000 });
  void call('a');
  await turn();
  batches[0]?.end();
  await turn();
  for (const name of ['b', 'c']) void call(name);
  await turn();
  expect(started()).toEqual([['a']]);
  void call('d');
  await turn();
  expect(started()).toEqual([['a'], ['b', 'c', 'd']]);
});

test('rejects waiting and running calls at the deadline, and lets new ones in', async () => {
  vi.useFakeTimers();
  const { batches, call, started } = heldBatches({ callsMax: 1, waitingMax: 2, deadlineMs: 1_000 });
  const refused = (name: string) => call(name).catch(({ code }) => code);
  const hung = refused('a');
  await vi.advanceTimersByTimeAsync(500);
  const waiting = refused('b');
  await vi.advanceTimersByTimeAsync(600);
  expect(await hung).toBe('service_unavailable');
  await vi.advanceTimersByTimeAsync(500);
  expect(await waiting).toBe('service_unavailable');
  const late = call('c');
  batches[0]?.end();
  await vi.advanceTimersByTimeAsync(0);
  expect(started()).toEqual([['a'], ['c']]);
  batches[1]?.end();
  expect(await late).toBe('c!');
});

test('tells refused calls that were never sent from those that may have had an effect', async () => {
  vi.useFakeTimers();
  const { call } = heldBatches({ callsMax: 1, waitingMax: 1, deadlineMs: 1_000 });
  const faultOf = (name: string) => call(name).catch((error: unknown) => error);
  const running = faultOf('a');
  await vi.advanceTimersByTimeAsync(10);
  const waiting = faultOf('b');
  const refused = faultOf('c');
  await vi.advanceTimersByTimeAsync(1_200);
  const faults = await Promise.all([running, waiting, refused]);
  expect(faults.map(wasNeverSent)).toEqual([false, true, true]);
  expect(wasNeverSent(new Error('wrapped', { cause: faults[2] }))).toBe(true);
});

test('never retries a call after its deadline', async () => {
  vi.useFakeTimers();
  const { batches, call, started } = heldBatches({ deadlineMs: 1_000, isRetryable: () => true });
  const failed = call('bad').catch(({ code }) => code);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await failed).toBe('service_unavailable');
  batches[0]?.end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(started()).toEqual([['bad']]);
  expect(vi.getTimerCount()).toBe(0);
});

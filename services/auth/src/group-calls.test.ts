import { expect, test } from 'vitest';
import { groupCalls } from './group-calls.ts';

/** A run that is answered when the test says so; `runs` are the inputs of each. */
const controlled = (keyOf?: (input: string) => string) => {
  const runs: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const ask = groupCalls<string, string>({
    run: async (inputs) => {
      runs.push(inputs);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (inputs.includes('bad')) throw new Error('no');
      return inputs.map((input) => `${input}!`);
    },
    ...(keyOf === undefined ? {} : { keyOf }),
  });
  const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const end = async (): Promise<void> => {
    ends.shift()?.();
    await turn();
  };
  return { ask, runs, turn, end };
};

test('calls of one turn share a run, those that come meanwhile share the next', async () => {
  const { ask, runs, turn, end } = controlled();
  const first = [ask('a'), ask('b')];
  await turn();
  const second = [ask('c'), ask('d')];
  await turn();
  expect(runs).toEqual([['a', 'b']]);
  await end();
  expect(runs).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  await end();
  expect(await Promise.all([...first, ...second])).toEqual(['a!', 'b!', 'c!', 'd!']);
});

test('a run that fails fails its own calls and no others', async () => {
  const { ask, turn, end } = controlled();
  const failing = [ask('bad'), ask('a')].map((call) => call.catch((error: Error) => error.message));
  await turn();
  const next = ask('b');
  await end();
  await end();
  expect(await Promise.all(failing)).toEqual(['no', 'no']);
  expect(await next).toBe('b!');
});

test('calls of one key take turns, in their order', async () => {
  const { ask, runs, turn, end } = controlled((input) => input.charAt(0));
  const calls = ['a1', 'a2', 'b1', 'a3', 'c1'].map(ask);
  await turn();
  await end();
  await end();
  await end();
  expect(runs).toEqual([['a1', 'b1', 'c1'], ['a2'], ['a3']]);
  expect(await Promise.all(calls)).toEqual(['a1!', 'a2!', 'b1!', 'a3!', 'c1!']);
});

test('groups and the queue have an end', async () => {
  const { ask, runs, turn, end } = controlled();
  const calls = Array.from({ length: 2_048 }, (_, index) => ask(String(index)));
  await expect(ask('one too many')).rejects.toMatchObject({ code: 'service_unavailable' });
  await turn();
  while (runs.length < 2_048 / 64) await end();
  await end();
  expect(new Set(runs.map(({ length }) => length))).toEqual(new Set([64]));
  expect(await Promise.all(calls)).toHaveLength(2_048);
});

import { describe, expect, test } from 'vitest';
import { groupCalls } from './group-calls.ts';

interface Call {
  readonly owner: string;
  readonly name: string;
}

/** Groups that stay under way until the test lets them end. */
const heldGroups = () => {
  const groups: { names: string[]; end(): void }[] = [];
  const together = async (calls: readonly Call[]) => {
    const names = calls.map(({ name }) => name);
    await new Promise<void>((resolve) => groups.push({ names, end: resolve }));
    return names.map((name) => `answer to ${name}`);
  };
  const alone = async (only: Call) => String((await together([only]))[0]);
  const call = groupCalls<Call, string>({ keyOf: ({ owner }) => owner, together, alone });
  return { groups, call };
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('grouped calls', () => {
  test('that arrive together are made as one and answered each with its own answer', async () => {
    const { groups, call } = heldGroups();
    const answers = ['a', 'b', 'c'].map((name) => call({ owner: name, name }));
    await turn();
    expect(groups.map(({ names }) => names)).toEqual([['a', 'b', 'c']]);
    groups[0]?.end();
    expect(await Promise.all(answers)).toEqual(['answer to a', 'answer to b', 'answer to c']);
  });
  test('of one owner wait for its group under way, and nobody else waits for it', async () => {
    const { groups, call } = heldGroups();
    void call({ owner: 'hot', name: 'hot 1' });
    await turn();
    void call({ owner: 'hot', name: 'hot 2' });
    void call({ owner: 'cool', name: 'cool' });
    await turn();
    expect(groups.map(({ names }) => names)).toEqual([['hot 1'], ['cool']]);
    groups[1]?.end();
    await turn();
    expect(groups).toHaveLength(2);
    groups[0]?.end();
    await turn();
    expect(groups.at(-1)?.names).toEqual(['hot 2']);
  });
  test('of a crowd travel alone, behind whoever came before and before whoever comes after', async () => {
    const { groups, call } = heldGroups();
    void call({ owner: 'first', name: 'first' });
    for (let count = 1; count <= 40; count += 1) void call({ owner: 'hot', name: `hot ${count}` });
    void call({ owner: 'last', name: 'last' });
    await turn();
    expect(groups.map(({ names }) => names.length)).toEqual([2, 40]);
    expect(groups[0]?.names).toEqual(['first', 'last']);
  });
  test('beyond what may wait are refused, for one owner long before for all', async () => {
    const { call } = heldGroups();
    const flood = await Promise.allSettled(
      Array.from({ length: 600 }, (_, count) =>
        Promise.race([call({ owner: 'hot', name: `hot ${count}` }), turn().then(turn)]),
      ),
    );
    expect(flood.filter(({ status }) => status === 'rejected')).toHaveLength(100);
    await expect(Promise.race([call({ owner: 'cool', name: 'cool' }), turn().then(() => 'waits')])).resolves.toBe(
      'waits',
    );
  });
  test('of a group that fails are made again, each alone, so that only the one at fault fails', async () => {
    const made: string[] = [];
    const makeOne = async ({ name }: Call) => {
      made.push(name);
      if (name === 'bad') throw new Error('bad');
      return name;
    };
    const call = groupCalls<Call, string>({
      keyOf: ({ owner }) => owner,
      together: (calls) => Promise.all(calls.map(makeOne)),
      alone: makeOne,
    });
    const results = await Promise.allSettled(['a', 'bad', 'c'].map((name) => call({ owner: name, name })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(made).toEqual(['a', 'bad', 'c', 'a', 'bad', 'c']);
  });
  test('that wait for a row alone hold up only those of their own row', async () => {
    const made: string[] = [];
    const held = Promise.withResolvers<void>();
    const lockTimeout = Object.assign(new Error('held'), { code: '55P03' });
    const call = groupCalls<Call, string>({
      keyOf: ({ owner }) => owner,
      together: async (calls) => {
        if (calls.some(({ owner }) => owner.startsWith('held'))) throw lockTimeout;
        return calls.map(({ name }) => name);
      },
      alone: async ({ owner, name }) => {
        if (owner.startsWith('held')) await held.promise;
        made.push(name);
        return name;
      },
    });
    const waiting = ['held 1', 'held 2', 'held 3'].map((owner) => call({ owner, name: `first of ${owner}` }));
    expect(await call({ owner: 'cool', name: 'beside them' })).toBe('beside them');
    waiting.push(call({ owner: 'held 1', name: 'second of held 1' }));
    expect(await call({ owner: 'cool', name: 'after them' })).toBe('after them');
    expect(made).toEqual(['beside them']);
    held.resolve();
    await Promise.all(waiting);
    expect(made.indexOf('second of held 1')).toBeGreaterThan(made.indexOf('first of held 1'));
  });
});

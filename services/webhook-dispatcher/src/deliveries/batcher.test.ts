import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';

test('what arrives during a batch goes together into the next one, and each gets its own result', async () => {
  const batches: number[][] = [];
  const double = createBatcher<number, number>(
    async (items) => {
      batches.push([...items]);
      await Promise.resolve();
      return items.map((item) => item * 2);
    },
    { itemsMax: 3 },
  );
  expect(await Promise.all([1, 2, 3, 4, 5].map(double))).toEqual([2, 4, 6, 8, 10]);
  expect(await double(6)).toBe(12);
  expect(batches).toEqual([[1, 2, 3], [4, 5], [6]]);
});

test('a batch that fails fails for its own items only', async () => {
  const batched = createBatcher<number, number>(
    async (items) => {
      if (items.includes(2)) throw new Error('no');
      return items;
    },
    { itemsMax: 2 },
  );
  const outcomes = await Promise.allSettled([1, 2, 3].map(batched));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

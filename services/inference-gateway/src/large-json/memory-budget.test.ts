import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMemoryBudget, type GiveBack } from './memory-budget.ts';

const settled = async (taking: Promise<GiveBack>): Promise<boolean> => {
  let isSettled = false;
  void taking.then(() => {
    isSettled = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return isSettled;
};

describe('createMemoryBudget', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const create = () => createMemoryBudget({ bytesMax: 100, accountBytesMax: 60, waitMs: 1_000 });

  test('holds a body back until there is room', async () => {
    const budget = create();
    const giveBack = await budget.take('a', 60);
    const second = budget.take('b', 60);
    expect(await settled(second)).toBe(false);
    giveBack();
    expect(await settled(second)).toBe(true);
    expect(budget.bytesTaken()).toBe(60);
  });

  test('leaves room for another account beside one that takes all it may', async () => {
    const budget = create();
    await budget.take('a', 40);
    const greedy = budget.take('a', 40);
    expect(await settled(greedy)).toBe(false);
    expect(await settled(budget.take('b', 40))).toBe(true);
  });

  test('admits accounts in turn, however many bodies one of them has waiting', async () => {
    const budget = create();
    const first = await budget.take('a', 60);
    const other = await budget.take('b', 40);
    const order: string[] = [];
    const releases: GiveBack[] = [];
    const note = async (name: string, taking: Promise<GiveBack>) => {
      releases.push(await taking);
      order.push(name);
    };
    const all = [note('a1', budget.take('a', 60)), note('a2', budget.take('a', 60)), note('b', budget.take('b', 60))];
    first();
    other();
    await vi.advanceTimersByTimeAsync(0);
    releases.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
    releases.shift()?.();
    await Promise.all(all);
    expect(order).toEqual(['a1', 'b', 'a2']);
  });

  test('throws service_unavailable when there is no room in time, and forgets the body', async () => {
    const budget = create();
    const giveBack = await budget.take('a', 60);
    const late = expect(budget.take('b', 60)).rejects.toMatchObject({ code: 'service_unavailable' });
    await vi.advanceTimersByTimeAsync(1_000);
    await late;
    giveBack();
    giveBack();
    expect(budget.bytesTaken()).toBe(0);
  });
});

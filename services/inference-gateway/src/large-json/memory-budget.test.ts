import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Allocation, createMemoryBudget } from './memory-budget.ts';

const LIMITS = {
  bytesMax: 100,
  accountBytesMax: 60,
  accountWaitingMax: 2,
  allWaitingMax: 3,
  pace: { graceMs: 2_000, bytesPerMsMin: 1_000 },
};
const create = () => createMemoryBudget({ ...LIMITS, waitMs: 1_000 }, () => Date.now());

type Budget = ReturnType<typeof create>;

/** Opens an allocation and sets `isTaken` once its memory is available. */
const take = (
  budget: Budget,
  account: string,
  bytes: number,
): { allocation: Allocation; isTaken: boolean; error?: unknown } => {
  const allocation = budget.open(account);
  const waiting = allocation.take(bytes);
  const taking: ReturnType<typeof take> = { allocation, isTaken: waiting === undefined };
  waiting?.then(
    () => {
      taking.isTaken = true;
    },
    (error: unknown) => {
      taking.error = error;
    },
  );
  return taking;
};
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe('createMemoryBudget', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('queues a text until there is room', async () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    const second = take(budget, 'b', 60);
    expect(second.isTaken).toBe(false);
    allocation.release();
    await pass(0);
    expect(second.isTaken).toBe(true);
    expect(budget.bytesTaken()).toBe(60);
  });

  test('leaves room for another account if one account uses its whole share', async () => {
    const budget = create();
    take(budget, 'a', 40);
    const greedy = take(budget, 'a', 40);
    expect(take(budget, 'b', 40).isTaken).toBe(true);
    await pass(0);
    expect(greedy.isTaken).toBe(false);
  });

  test('admits accounts in turn, regardless of how many texts one of them has queued', async () => {
    const budget = create();
    const first = take(budget, 'a', 60);
    const other = take(budget, 'b', 40);
    const a1 = take(budget, 'a', 60);
    const a2 = take(budget, 'a', 60);
    const b = take(budget, 'b', 60);
    first.allocation.release();
    other.allocation.release();
    await pass(0);
    expect([a1.isTaken, b.isTaken, a2.isTaken]).toEqual([true, false, false]);
    a1.allocation.release();
    await pass(0);
    expect([b.isTaken, a2.isTaken]).toEqual([true, false]);
  });

  test('throws service_unavailable if no room becomes free in time, and forgets the text', async () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    const late = take(budget, 'b', 60);
    await pass(1_000);
    expect(late.error).toMatchObject({ code: 'service_unavailable' });
    allocation.release();
    allocation.release();
    expect(budget.bytesTaken()).toBe(0);
  });

  test('throws service_unavailable immediately if too many texts of an account are queued', async () => {
    const budget = create();
    take(budget, 'a', 60);
    const waiting = [1, 2, 3].map(() => take(budget, 'a', 60));
    await pass(0);
    expect(waiting.map(({ error }) => error !== undefined)).toEqual([false, false, true]);
  });

  test('is congested while the queue of the account or of all accounts is full, but refuses no text that may wait', async () => {
    const budget = createMemoryBudget(LIMITS, () => Date.now());
    const { allocation } = take(budget, 'a', 60);
    take(budget, 'b', 40);
    const waiting = [take(budget, 'a', 60), take(budget, 'a', 60)];
    expect([budget.isCongested('a'), budget.isCongested('b')]).toEqual([true, false]);
    waiting.push(take(budget, 'c', 60), take(budget, 'a', 1));
    expect(budget.isCongested('b')).toBe(true);
    await pass(3_600_000);
    expect(waiting.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
    allocation.release();
    await pass(0);
    expect(waiting.map(({ isTaken }) => isTaken)).toEqual([true, false, false, false]);
  });

  test('watches the pace of a text whose account was forgotten before its first bytes', async () => {
    const budget = create();
    const slow = budget.open('a');
    take(budget, 'a', 10).allocation.release();
    const onTooSlow = vi.fn();
    slow.startTransit(onTooSlow);
    slow.take(60);
    const waiting = take(budget, 'a', 60);
    await pass(900);
    waiting.allocation.release();
    await pass(2_000);
    expect(take(budget, 'a', 60).isTaken).toBe(false);
    await pass(0);
    expect(onTooSlow).toHaveBeenCalledOnce();
  });

  test('forgets a text that is released while it is queued', async () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    take(budget, 'b', 60).allocation.release();
    allocation.release();
    await pass(0);
    expect(budget.bytesTaken()).toBe(0);
  });

  test('returns memory that a text does not need', () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    allocation.shrinkTo(10);
    expect(budget.bytesTaken()).toBe(10);
    allocation.release();
    expect(budget.bytesTaken()).toBe(0);
  });
});

describe('a text that arrives too slowly', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const LONG_MS = 10_000;
  const drip = async (allocation: Allocation, milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      allocation.advance(1);
      await pass(500);
    }
  };

  test('keeps its room while no other text is queued', async () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    const onTooSlow = vi.fn();
    allocation.startTransit(onTooSlow);
    await drip(allocation, LONG_MS);
    expect(onTooSlow).not.toHaveBeenCalled();
  });

  test('loses its room to a queued text, even if single bytes arrive', async () => {
    const budget = create();
    const { allocation } = take(budget, 'a', 60);
    const onTooSlow = vi.fn();
    allocation.startTransit(onTooSlow);
    await drip(allocation, LONG_MS);
    expect(take(budget, 'b', 60).isTaken).toBe(false);
    await pass(0);
    expect(onTooSlow).toHaveBeenCalledOnce();
    expect(budget.bytesTaken()).toBe(60);
  });

  test('loses its room as soon as it is too slow while another text is queued', async () => {
    const budget = createMemoryBudget({ ...LIMITS, waitMs: LONG_MS }, () => Date.now());
    const { allocation } = take(budget, 'a', 60);
    const onTooSlow = vi.fn();
    allocation.startTransit(onTooSlow);
    const waiting = take(budget, 'b', 60);
    await pass(1_000);
    expect(waiting.isTaken).toBe(false);
    await pass(2_000);
    expect(waiting.isTaken).toBe(true);
    expect(onTooSlow).toHaveBeenCalledOnce();
  });

  test('keeps its room if releasing it would not help the queued text', async () => {
    const budget = create();
    const slow = take(budget, 'a', 30);
    const onTooSlow = vi.fn();
    slow.allocation.startTransit(onTooSlow);
    take(budget, 'b', 60);
    await pass(LONG_MS);
    take(budget, 'b', 10);
    await pass(500);
    expect(onTooSlow).not.toHaveBeenCalled();
  });

  test('is not too slow while it is queued itself, or complete', async () => {
    const budget = create();
    const first = take(budget, 'a', 50);
    const second = take(budget, 'b', 50);
    const onTooSlow = vi.fn();
    first.allocation.startTransit(onTooSlow);
    second.allocation.startTransit(onTooSlow);
    second.allocation.endTransit();
    first.allocation.take(10)?.catch(() => {});
    await pass(900);
    expect(onTooSlow).not.toHaveBeenCalled();
    second.allocation.release();
    await pass(1_900);
    const waiting = take(budget, 'b', 60);
    expect(onTooSlow).not.toHaveBeenCalled();
    await pass(500);
    expect(onTooSlow).toHaveBeenCalledOnce();
    expect(waiting.isTaken).toBe(true);
  });
});

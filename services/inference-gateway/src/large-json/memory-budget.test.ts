import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMemoryBudget, type Lease } from './memory-budget.ts';

const create = () =>
  createMemoryBudget({ bytesMax: 100, accountBytesMax: 60, accountWaitingMax: 2, waitMs: 1_000 }, () => Date.now());

type Budget = ReturnType<typeof create>;

/** Opens a lease and notes, as `isTaken`, whether its room is there. */
const take = (budget: Budget, account: string, bytes: number): { lease: Lease; isTaken: boolean; error?: unknown } => {
  const lease = budget.open(account);
  const waiting = lease.take(bytes);
  const taking: ReturnType<typeof take> = { lease, isTaken: waiting === undefined };
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

  test('holds a text back until there is room', async () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    const second = take(budget, 'b', 60);
    expect(second.isTaken).toBe(false);
    lease.release();
    await pass(0);
    expect(second.isTaken).toBe(true);
    expect(budget.bytesTaken()).toBe(60);
  });

  test('leaves room for another account beside one that takes all it may', async () => {
    const budget = create();
    take(budget, 'a', 40);
    const greedy = take(budget, 'a', 40);
    expect(take(budget, 'b', 40).isTaken).toBe(true);
    await pass(0);
    expect(greedy.isTaken).toBe(false);
  });

  test('admits accounts in turn, however many texts one of them has waiting', async () => {
    const budget = create();
    const [first, other] = [take(budget, 'a', 60), take(budget, 'b', 40)];
    const [a1, a2, b] = [take(budget, 'a', 60), take(budget, 'a', 60), take(budget, 'b', 60)];
    first.lease.release();
    other.lease.release();
    await pass(0);
    expect([a1.isTaken, b.isTaken, a2.isTaken]).toEqual([true, false, false]);
    a1.lease.release();
    await pass(0);
    expect([b.isTaken, a2.isTaken]).toEqual([true, false]);
  });

  test('throws service_unavailable when there is no room in time, and forgets the text', async () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    const late = take(budget, 'b', 60);
    await pass(1_000);
    expect(late.error).toMatchObject({ code: 'service_unavailable' });
    lease.release();
    lease.release();
    expect(budget.bytesTaken()).toBe(0);
  });

  test('throws service_unavailable at once when too many texts of an account wait', async () => {
    const budget = create();
    take(budget, 'a', 60);
    const waiting = [1, 2, 3].map(() => take(budget, 'a', 60));
    await pass(0);
    expect(waiting.map(({ error }) => error !== undefined)).toEqual([false, false, true]);
  });

  test('forgets a text that is released while it waits', async () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    take(budget, 'b', 60).lease.release();
    lease.release();
    await pass(0);
    expect(budget.bytesTaken()).toBe(0);
  });

  test('gives back what a text turns out not to need', () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    lease.keep(10);
    expect(budget.bytesTaken()).toBe(10);
    lease.release();
    expect(budget.bytesTaken()).toBe(0);
  });
});

describe('a text that moves too slowly', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const LONG_MS = 10_000;
  const drip = async (lease: Lease, milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      lease.advance(1);
      await pass(500);
    }
  };

  test('keeps its room while nobody waits for it', async () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    const onLate = vi.fn();
    lease.move(onLate);
    await drip(lease, LONG_MS);
    expect(onLate).not.toHaveBeenCalled();
  });

  test('loses its room to one that waits, even if it drips', async () => {
    const budget = create();
    const { lease } = take(budget, 'a', 60);
    const onLate = vi.fn();
    lease.move(onLate);
    await drip(lease, LONG_MS);
    expect(take(budget, 'b', 60).isTaken).toBe(false);
    await pass(0);
    expect(onLate).toHaveBeenCalledOnce();
    expect(budget.bytesTaken()).toBe(60);
  });

  test('loses its room while another waits, as soon as it is late', async () => {
    const budget = createMemoryBudget(
      { bytesMax: 100, accountBytesMax: 60, accountWaitingMax: 2, waitMs: LONG_MS },
      () => Date.now(),
    );
    const { lease } = take(budget, 'a', 60);
    const onLate = vi.fn();
    lease.move(onLate);
    const waiting = take(budget, 'b', 60);
    await pass(1_000);
    expect(waiting.isTaken).toBe(false);
    await pass(2_000);
    expect(waiting.isTaken).toBe(true);
    expect(onLate).toHaveBeenCalledOnce();
  });

  test('keeps its room if that would not help the one that waits', async () => {
    const budget = create();
    const slow = take(budget, 'a', 30);
    const onLate = vi.fn();
    slow.lease.move(onLate);
    take(budget, 'b', 60);
    await pass(LONG_MS);
    take(budget, 'b', 10);
    await pass(500);
    expect(onLate).not.toHaveBeenCalled();
  });

  test('is not late while it is held back, or at rest', async () => {
    const budget = create();
    const [first, second] = [take(budget, 'a', 50), take(budget, 'b', 50)];
    const onLate = vi.fn();
    first.lease.move(onLate);
    second.lease.move(onLate);
    second.lease.rest();
    first.lease.take(10)?.catch(() => {});
    await pass(900);
    expect(onLate).not.toHaveBeenCalled();
    second.lease.release();
    await pass(1_900);
    const waiting = take(budget, 'b', 60);
    expect(onLate).not.toHaveBeenCalled();
    await pass(500);
    expect(onLate).toHaveBeenCalledOnce();
    expect(waiting.isTaken).toBe(true);
  });
});

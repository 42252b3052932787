import { expect, test } from 'vitest';
import { UnorderedSet } from './unordered-set.ts';

test('keeps each member until it is removed, equal members separately', () => {
  const set = new UnorderedSet<string>();
  const removeA = set.add('a');
  const removeB = set.add('b');
  const removeOtherA = set.add('a');
  removeA();
  removeA();
  expect([...set].toSorted()).toEqual(['a', 'b']);
  removeOtherA();
  expect([...set]).toEqual(['b']);
  removeB();
  expect(set.size).toBe(0);
});

test('visits every member of the snapshot while members are removed', () => {
  const set = new UnorderedSet<() => void>();
  const seen: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const remove = set.add(() => {
      seen.push(i);
      remove();
    });
  }
  for (const visit of set) visit();
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(set.size).toBe(0);
});

test('keeps the remaining members through 1,000 additions and removals', () => {
  const set = new UnorderedSet<number>();
  const inside = new Map<number, () => void>();
  for (let i = 0; i < 1_000; i += 1) {
    inside.set(i, set.add(i));
    // A deterministic walk over the members.
    const leaving = (i * 7_919) % (i + 1);
    inside.get(leaving)?.();
    inside.delete(leaving);
    expect(set.size).toBe(inside.size);
  }
  expect([...set].toSorted((a, b) => a - b)).toEqual([...inside.keys()].toSorted((a, b) => a - b));
});

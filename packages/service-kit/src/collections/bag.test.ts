import { expect, test } from 'vitest';
import { Bag } from './bag.ts';

test('holds each member until it is taken out, equal ones too', () => {
  const bag = new Bag<string>();
  const [takeA, takeB, takeOtherA] = [bag.add('a'), bag.add('b'), bag.add('a')];
  takeA();
  takeA();
  expect([...bag].toSorted()).toEqual(['a', 'b']);
  takeOtherA();
  expect([...bag]).toEqual(['b']);
  takeB();
  expect(bag.size).toBe(0);
});

test('members may leave while it is walked through', () => {
  const bag = new Bag<() => void>();
  const seen: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const take = bag.add(() => {
      seen.push(i);
      take();
    });
  }
  for (const visit of bag) visit();
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(bag.size).toBe(0);
});

test('any order of coming and going leaves those who stayed', () => {
  const bag = new Bag<number>();
  const inside = new Map<number, () => void>();
  for (let i = 0; i < 1_000; i += 1) {
    inside.set(i, bag.add(i));
    // A fixed walk over those that are inside.
    const leaving = (i * 7_919) % (i + 1);
    inside.get(leaving)?.();
    inside.delete(leaving);
    expect(bag.size).toBe(inside.size);
  }
  expect([...bag].toSorted((a, b) => a - b)).toEqual([...inside.keys()].toSorted((a, b) => a - b));
});

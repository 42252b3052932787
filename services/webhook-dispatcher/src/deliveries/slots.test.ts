import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

it('attempts that hang leave the places of the prompt ones, up to a limit for all', () => {
  let freed = 0;
  const slots = createSlots({ slots: 4 }, () => {
    freed += 1;
  });
  const first = Array.from({ length: 4 }, () => slots.take(false));
  expect(slots.free('prompt')).toBe(0);
  for (const slot of first) slot.becomeSlow();
  expect([slots.free('prompt'), slots.free('slow'), freed]).toEqual([4, 4, 4]);
  for (let index = 0; index < 28; index += 1) slots.take(false).becomeSlow();
  expect([slots.free('prompt'), slots.free('slow'), slots.inUse()]).toEqual([0, 0, 32]);
  first[0]?.release();
  expect([slots.free('prompt'), slots.free('slow')]).toEqual([1, 0]);
});

it('lanes that are known to be slow never take the place of a prompt one', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  for (let index = 0; index < 8; index += 1) slots.take(true);
  expect([slots.free('prompt'), slots.free('slow')]).toEqual([4, 0]);
});

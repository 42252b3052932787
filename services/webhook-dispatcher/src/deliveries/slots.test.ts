import { expect, it } from 'vitest';
import { createSlots } from './slots.ts';

const times = (count: number, work: () => void): void => {
  for (let index = 0; index < count; index += 1) work();
};

it('attempts that hang leave the places of the prompt ones', () => {
  let freed = 0;
  const slots = createSlots({ slots: 4 }, () => {
    freed += 1;
  });
  const first = Array.from({ length: 4 }, () => slots.take('prompt'));
  expect(slots.free().prompt).toBe(0);
  for (const slot of first) slot.becomeSlow();
  expect([slots.free(), freed]).toEqual([{ prompt: 4, unknown: 2, slow: 4 }, 4]);
});

it('lanes that are slow, or might be, never take the place of a prompt one', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  times(8, () => slots.take('slow'));
  times(2, () => slots.take('unknown'));
  expect(slots.free()).toEqual({ prompt: 4, unknown: 0, slow: 0 });
});

it('all together have a limit', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  const taken = slots.take('prompt');
  times(63, () => slots.take('prompt').becomeSlow());
  expect([slots.free(), slots.inUse()]).toEqual([{ prompt: 0, unknown: 0, slow: 0 }, 64]);
  taken.release();
  expect([slots.free().prompt, slots.free().slow]).toEqual([1, 0]);
});

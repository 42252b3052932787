import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

const times = (count: number, work: () => void): void => {
  for (let index = 0; index < count; index += 1) work();
};

test('attempts that hang free their slots for prompt receivers', () => {
  let freed = 0;
  const slots = createSlots({ slots: 4 }, () => {
    freed += 1;
  });
  const first = Array.from({ length: 4 }, () => slots.take('prompt'));
  expect(slots.free().prompt).toBe(0);
  for (const slot of first) slot.becomeSlow();
  expect([slots.free(), freed]).toEqual([{ prompt: 4, unknown: 2, slow: 8 }, 4]);
});

test('slow and unknown receivers take no slot of a prompt one', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  times(8, () => slots.take('slow'));
  times(2, () => slots.take('unknown'));
  expect(slots.free()).toEqual({ prompt: 4, unknown: 0, slow: 0 });
});

test('slow receivers keep their slots, however many attempts became slow', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  times(200, () => slots.take('prompt').becomeSlow());
  expect([slots.free().prompt, slots.free().slow]).toEqual([4, 8]);
});

test('has no slot for an unknown receiver while too many attempts became slow', () => {
  const slots = createSlots({ slots: 4 }, () => undefined);
  const taken = Array.from({ length: 56 }, () => slots.take('unknown'));
  for (const slot of taken) slot.becomeSlow();
  expect([slots.free().unknown, slots.inUse()]).toEqual([0, 56]);
  taken[0]?.release();
  expect(slots.free().unknown).toBe(2);
});

import { expect, test } from 'vitest';
import { toCalendarDay } from './chart-data.ts';

test('writes a UTC day as the same day everywhere', () => {
  expect(toCalendarDay('2026-03-01')).toEqual(new Date(2026, 2, 1));
  expect(toCalendarDay('2026-03-01T23:59:59.999Z')).toEqual(new Date(2026, 2, 1));
});

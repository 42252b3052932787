import { describe, expect, test } from 'vitest';
import { idPattern, newId } from './ids.ts';

describe('newId', () => {
  test('returns the prefix and 26 Crockford characters', () => {
    expect(newId('usr')).toMatch(idPattern('usr'));
    expect(newId('req')).not.toMatch(idPattern('usr'));
    expect(`req_8${'0'.repeat(25)}`).not.toMatch(idPattern('req'));
  });

  test('sorts ids of one process by creation, even within a millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('evt'));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('keeps the order when the clock goes backwards', () => {
    const later = newId('grt', Date.now() + 60_000);
    expect(newId('grt', Date.now()) > later).toBe(true);
  });
});

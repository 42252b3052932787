import { describe, expect, test } from 'vitest';
import { idPattern, newId } from './ids.ts';

describe('newId', () => {
  test('carries its prefix and 26 Crockford characters', () => {
    expect(newId('usr')).toMatch(idPattern('usr'));
    expect(newId('req')).not.toMatch(idPattern('usr'));
  });

  test('sorts ids of one process in the order in which they were made, within a millisecond too', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('evt'));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('does not go backwards when the clock does', () => {
    const later = newId('grt', Date.now() + 60_000);
    expect(newId('grt', Date.now()) > later).toBe(true);
  });
});

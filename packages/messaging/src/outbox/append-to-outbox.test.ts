import { expect, test } from 'vitest';
import { z } from 'zod';
import { uuidV7 } from './append-to-outbox.ts';

test('RFC 9562 §5.7: begins with the milliseconds, and has version 7 and the variant', () => {
  const id = uuidV7(0x0192_aabb_ccdd);
  expect(z.uuidv7().parse(id)).toBe(id);
  expect(id.slice(0, 13)).toBe('0192aabb-ccdd');
  expect(new Set(Array.from({ length: 1000 }, () => uuidV7())).size).toBe(1000);
});

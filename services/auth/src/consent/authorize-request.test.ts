import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseScope } from './authorize-request.ts';

test.each([
  ['inference', ['inference']],
  ['usage:read inference', ['inference', 'usage:read']],
  ['inference inference', ['inference']],
  ['inference ', ['inference']],
  [' inference  usage:read', ['inference', 'usage:read']],
])('%s', (text, scopes) => {
  expect(parseScope(text)).toEqual(scopes);
});

test.each(['', ' ', 'openid', 'inference admin', 'Inference', 'inference\tusage:read'])('rejects "%s"', (text) => {
  expect(parseScope(text)).toBeUndefined();
});

test('never returns a scope that the text does not name', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('inference', 'usage:read', 'admin', 'inference:all', '')), (names) => {
      const granted = parseScope(names.join(' ')) ?? [];
      expect(granted.every((scope) => names.includes(scope))).toBe(true);
      if (names.some((name) => !['inference', 'usage:read', ''].includes(name))) expect(granted).toEqual([]);
    }),
  );
});

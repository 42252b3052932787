import { expect, test } from 'vitest';
import { safeNext } from './safe-next.ts';

test.each([
  ['/wallet?cancelled=1', '/wallet?cancelled=1'],
  ['/plans/return?session_id=cs_1', '/plans/return?session_id=cs_1'],
  [null, '/'],
  ['', '/'],
  ['wallet', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
])('goes from %j to %j', (next, page) => {
  expect(safeNext(next)).toBe(page);
});

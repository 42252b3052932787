import { expect, test } from 'vitest';
import { toPasskeyError } from './passkeys.ts';

test.each([
  ['NotAllowedError', 'passkey_cancelled'],
  ['AbortError', 'passkey_cancelled'],
  ['InvalidStateError', 'passkey_registered'],
  ['SecurityError', 'passkey_unavailable'],
])('converts %s to %s', (name, code) => {
  expect(toPasskeyError(new DOMException('', name)).code).toBe(code);
});

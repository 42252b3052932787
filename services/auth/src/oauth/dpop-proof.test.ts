import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { z } from 'zod';

// `dpop-proof.ts` uses an internal module of the library. After an upgrade, compare `lib/helpers/grants.js` and
// `lib/helpers/validate_dpop.js` with the release before, run `test/dpop-and-par.test.ts`, and then set the version here.
test('the library is the release whose internal proof check was read', () => {
  const { version } = z
    .object({ version: z.string() })
    .parse(createRequire(import.meta.url)('oidc-provider/package.json'));
  expect(version).toBe('9.13.3');
});

import { expect, test } from 'vitest';
import { withSandboxDomains } from './prove-domain.ts';

test('proves domains below .example without a lookup in the sandbox, and looks up others', async () => {
  const sandbox = withSandboxDomains(async () => ({ dns: 'different', file: 'different' }));
  const outcomeOf = async (domain: string) => (await sandbox({ domain, token: 'abc' })).dns;
  expect(await Promise.all(['acme.example', 'unproven.example', 'acme.test'].map(outcomeOf))).toEqual([
    'proven',
    'missing',
    'different',
  ]);
});

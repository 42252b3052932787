import { configDefaults } from 'vitest/config';
// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

/** `vi.mock` replaces a module only in a process that has not loaded it yet. */
const MOCKING = ['test/accounts.test.ts', 'test/email-verification.test.ts'];

export default defineTests({
  globalSetup: ['@svc/database/testing/global-setup'],
  // Vitest leaves one core to itself, of two as well: most files wait for a database or a browser half of their time.
  maxWorkers: '100%',
  projects: [
    { extends: true, test: { name: 'mocking', include: MOCKING, isolate: true } },
    { extends: true, test: { name: 'sharing', exclude: [...configDefaults.exclude, ...MOCKING] } },
  ],
});

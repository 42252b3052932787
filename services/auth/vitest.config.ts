import { configDefaults, defineConfig } from 'vitest/config';

/** `vi.mock` replaces a module only in a process that has not loaded it yet. */
const MOCKING = ['test/accounts.test.ts', 'test/email-verification.test.ts'];

export default defineConfig({
  test: {
    // What is polled for comes at once, or on a busy machine a little later: the second that Vitest gives is no guarantee of ours.
    expect: { poll: { timeout: 10_000 } },
    globalSetup: ['@svc/testing/global-setup'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Vitest leaves one core to itself, of two as well: most files wait for a database or a browser half of their time.
    maxWorkers: '100%',
    projects: [
      { extends: true, test: { name: 'mocking', include: MOCKING } },
      { extends: true, test: { name: 'sharing', exclude: [...configDefaults.exclude, ...MOCKING], isolate: false } },
    ],
  },
});

import { defineConfig } from 'vitest/config';

// A stack of its own, whose services are of two releases.
export default defineConfig({
  test: {
    // What is polled for comes at once, or on a busy machine a little later: the second that Vitest gives is no guarantee of ours.
    expect: { poll: { timeout: 10_000 } },
    include: ['test/upgrade/**/*.test.ts'],
    globalSetup: ['test/upgrade/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});

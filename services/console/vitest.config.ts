import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    // What is polled for comes at once, or on a busy machine a little later: the second that Vitest gives is no guarantee of ours.
    expect: { poll: { timeout: 30_000 } },
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Each file with a browser is its own Chromium.
    maxWorkers: 2,
  },
});

import { defineConfig } from 'vitest/config';

// A separate stack whose services run two releases.
export default defineConfig({
  test: {
    isolate: false,
    // Vitest's default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    include: ['test/upgrade/**/*.test.ts'],
    globalSetup: ['test/upgrade/global-setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 300_000,
  },
});

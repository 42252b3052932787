import { defineConfig } from 'vitest/config';

// A stack of its own, whose services are of two releases.
export default defineConfig({
  test: {
    include: ['test/upgrade/**/*.test.ts'],
    globalSetup: ['test/upgrade/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});

import { defineConfig } from 'vitest/config';

// A stack of its own: what alerts tell of is done to it, and nobody else should see that.
export default defineConfig({
  test: {
    include: ['test/alerts/**/*.test.ts'],
    globalSetup: ['test/alerts/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

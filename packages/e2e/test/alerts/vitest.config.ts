import { defineConfig } from 'vitest/config';

// A separate stack: the alert tests break it.
export default defineConfig({
  test: {
    isolate: false,
    include: ['test/alerts/**/*.test.ts'],
    globalSetup: ['test/alerts/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

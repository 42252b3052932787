import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['@svc/testing/global-setup'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Vitest leaves one core to itself, of two as well: most files wait for a database or a browser half of their time.
    maxWorkers: '100%',
  },
});

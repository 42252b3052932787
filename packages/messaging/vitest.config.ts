import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    globalSetup: ['@svc/testing/global-setup'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // The tests mostly wait for servers, so one worker would leave the processor idle.
    maxWorkers: 2,
  },
});

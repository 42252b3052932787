import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', isolate: false, include: ['src/**/*.test.ts'] } },
      { test: { name: 'fuzz', isolate: false, include: ['test/fuzz/*.fuzz.ts'], testTimeout: 90_000 } },
      {
        test: {
          name: 'integration',
          // Tests of memory collect garbage themselves.
          execArgv: ['--expose-gc'],
          isolate: false,
          include: ['test/**/*.test.ts'],
          globalSetup: ['@svc/testing/global-setup'],
          testTimeout: 90_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    // Vitest's default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/alerts/**', 'test/compatibility/**', 'test/upgrade/**'],
    globalSetup: ['test/support/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 180_000,
  },
});

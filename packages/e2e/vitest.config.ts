import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // What is polled for comes at once, or on a busy machine a little later: the second that Vitest gives is no guarantee of ours.
    expect: { poll: { timeout: 10_000 } },
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/alerts/**', 'test/upgrade/**'],
    globalSetup: ['test/support/global-setup.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});

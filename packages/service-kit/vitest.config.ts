import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    // memory.test.ts collects garbage itself.
    execArgv: ['--expose-gc'],
    // Vitest's default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});

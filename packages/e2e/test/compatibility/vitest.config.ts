import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    include: ['test/compatibility/**/*.test.ts'],
    globalSetup: ['test/compatibility/support/global-setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 180_000,
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
  },
});

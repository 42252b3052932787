import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { isolate: false, globalSetup: ['./test/support/global-setup.ts'], testTimeout: 90_000, hookTimeout: 120_000 },
});

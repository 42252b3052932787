import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { test: { name: 'fuzz', include: ['test/fuzz/*.fuzz.ts'], testTimeout: 60_000 } },
    ],
  },
});

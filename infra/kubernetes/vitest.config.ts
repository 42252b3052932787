import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    exclude: [...configDefaults.exclude, 'test/rebuilt-image/**'],
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});

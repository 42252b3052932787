import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    isolate: false,
    exclude: [...configDefaults.exclude, 'test/rebuilt-image/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

import { configDefaults } from 'vitest/config';
// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  include: ['test/**/*.test.ts'],
  exclude: [...configDefaults.exclude, 'test/alerts/**', 'test/compatibility/**', 'test/upgrade/**'],
  globalSetup: ['test/support/global-setup.ts'],
  fileParallelism: false,
  hookTimeout: 180_000,
});

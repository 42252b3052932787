// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../../../vitest.base.ts';

// A separate stack: the alert tests break it.
export default defineTests({
  include: ['test/alerts/**/*.test.ts'],
  globalSetup: ['test/alerts/global-setup.ts'],
  fileParallelism: false,
  testTimeout: 120_000,
  hookTimeout: 180_000,
});

// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['test/support/global-setup.ts'],
  testTimeout: 120_000,
  // Each file with a browser is its own Chromium.
  maxWorkers: 2,
});

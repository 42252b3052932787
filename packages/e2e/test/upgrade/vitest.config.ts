// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../../../vitest.base.ts';

// A separate stack whose services run two releases.
export default defineTests({
  include: ['test/upgrade/**/*.test.ts'],
  globalSetup: ['test/upgrade/global-setup.ts'],
  hookTimeout: 300_000,
});

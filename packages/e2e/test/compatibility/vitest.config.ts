// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../../../vitest.base.ts';

export default defineTests({
  include: ['test/compatibility/**/*.test.ts'],
  globalSetup: ['test/compatibility/support/global-setup.ts'],
  hookTimeout: 180_000,
  env: { MASTRA_TELEMETRY_DISABLED: '1' },
});

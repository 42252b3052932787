// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  projects: [
    { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
    { extends: true, test: { name: 'fuzz', include: ['test/fuzz/*.fuzz.ts'] } },
    {
      extends: true,
      test: {
        name: 'integration',
        // Tests of memory collect garbage themselves.
        execArgv: ['--expose-gc'],
        include: ['test/**/*.test.ts'],
        globalSetup: ['@svc/database/testing/global-setup'],
      },
    },
  ],
});

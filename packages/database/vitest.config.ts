import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['./test/support/global-setup.ts', './src/testing/global-setup.ts'],
});

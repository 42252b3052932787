import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['./src/global-setup.ts'],
});

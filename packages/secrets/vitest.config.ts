import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['@svc/testing/global-setup'],
});

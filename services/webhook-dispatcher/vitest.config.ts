import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['@svc/database/testing/global-setup'],
});

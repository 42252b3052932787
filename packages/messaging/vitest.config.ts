// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  globalSetup: ['@svc/database/testing/global-setup'],
  // The tests mostly wait for servers, so one worker would leave the processor idle.
  maxWorkers: 2,
});

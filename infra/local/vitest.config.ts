// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // The tests mostly wait for processes, so Vitest's single worker on two cores would leave both idle.
  maxWorkers: 3,
});

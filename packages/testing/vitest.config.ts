import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  fileParallelism: false,
});

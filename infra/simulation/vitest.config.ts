import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  testTimeout: 600_000,
});

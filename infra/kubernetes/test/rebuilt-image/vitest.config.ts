import { defineTests } from '../../../../vitest.base.ts';

export default defineTests({
  include: ['test/rebuilt-image/**/*.test.ts'],
});

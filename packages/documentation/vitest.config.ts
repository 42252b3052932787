import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
});

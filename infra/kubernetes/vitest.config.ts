import { configDefaults } from 'vitest/config';
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  exclude: [...configDefaults.exclude, 'test/rebuilt-image/**'],
});

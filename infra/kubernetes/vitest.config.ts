import { configDefaults } from 'vitest/config';
// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests({
  exclude: [...configDefaults.exclude, 'test/rebuilt-image/**'],
});

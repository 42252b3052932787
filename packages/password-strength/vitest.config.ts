// @boundaries-ignore All packages share one configuration, which is of the workspace.
import { defineTests } from '../../vitest.base.ts';

export default defineTests();

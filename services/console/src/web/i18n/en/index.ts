import { enCore } from './core.ts';
import { enPages } from './pages.ts';

export type { CoreMessages } from './core.ts';
export type { PageMessages } from './pages.ts';

/** English. */
export const en = { ...enCore, ...enPages };

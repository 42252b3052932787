import { itCore } from './core.ts';
import { itPages } from './pages.ts';

/** Italian. */
export const it = { ...itCore, ...itPages };

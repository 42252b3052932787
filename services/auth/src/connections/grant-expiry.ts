import { later } from '../clock.ts';
import { GRANT_UNUSED_MS } from './connection.ts';

/** Returns when a grant that is used now is deleted, unless it is used again. */
export const grantExpiry = (now: Date): Date => later(now, GRANT_UNUSED_MS);

import { createHmac } from 'node:crypto';

/** Returns the keyed hash of a key. Without the pepper, a leaked table does not allow guesses to be checked. */
export const hashKey = (pepper: string, key: string): Buffer => createHmac('sha256', pepper).update(key).digest();

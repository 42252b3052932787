import { createHmac } from 'node:crypto';

/** The keyed hash that a key is recognised by: without the pepper, the table alone cannot even be searched for a guess. */
export const hashKey = (pepper: string, key: string): Buffer => createHmac('sha256', pepper).update(key).digest();

import { later } from '../clock.ts';
import type { Transaction } from '../transact.ts';
import { GRANT_UNUSED_MS } from './connection.ts';
import { touchGrant } from './grant-queries.ts';

/** When a grant that is used now is forgotten, unless it is used again. */
export const grantExpiry = (now: Date): Date => later(now, GRANT_UNUSED_MS);

/**
 * Notes that tokens are issued under a grant, and locks it until the transaction ends: whatever competes for its codes and
 * refresh tokens takes turns. False where the grant no longer holds.
 */
export const useGrant = async (trx: Transaction, grantId: string, now: Date): Promise<boolean> =>
  await touchGrant(trx, { grantId, usedAt: now, expiresAt: grantExpiry(now) });

import { later } from '../clock.ts';
import type { Transaction } from '../transact.ts';
import { GRANT_UNUSED_MS } from './connection.ts';
import { type GrantUse, touchGrant } from './grant-queries.ts';

/** A use of a grant now: it is forgotten when it is not used again for long. */
export const grantUse = (grantId: string, now: Date): GrantUse => ({
  grantId,
  usedAt: now,
  grantExpiresAt: later(now, GRANT_UNUSED_MS),
});

/**
 * Notes that tokens are issued under a grant, and locks it until the transaction ends: whatever competes for its codes and
 * refresh tokens takes turns. False where the grant no longer holds.
 */
export const useGrant = async (trx: Transaction, grantId: string, now: Date): Promise<boolean> =>
  await touchGrant(trx, grantUse(grantId, now));

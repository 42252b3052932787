import { later } from '../clock.ts';
import type { Transaction } from '../transact.ts';
import { GRANT_UNUSED_MS, type GrantRecord } from './connection.ts';
import { touchGrant } from './grant-queries.ts';

/**
 * Notes that tokens are issued under a grant, and locks it until the transaction ends: whatever competes for its codes and
 * refresh tokens takes turns. Undefined where the grant no longer holds.
 */
export const useGrant = async (trx: Transaction, grantId: string, now: Date): Promise<GrantRecord | undefined> =>
  await touchGrant(trx, grantId, { usedAt: now, expiresAt: later(now, GRANT_UNUSED_MS) });

import { snakeKeys } from '../key-case.ts';
import type { Transaction } from '../transact.ts';

/** Stores the digest of a new current secret. */
export const insertSecret = async (
  trx: Transaction,
  secret: { digest: Buffer; clientId: string; createdAt: Date },
): Promise<void> => {
  await trx('app_secrets').insert(snakeKeys({ ...secret, expiresAt: null }));
};

/** Ends the current secret at an instant, and those before it at once. */
export const expireSecrets = async (trx: Transaction, clientId: string, currentEndsAt: Date): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).whereNotNull('expires_at').delete();
  await trx('app_secrets').where({ client_id: clientId }).update({ expires_at: currentEndsAt });
};

/** Removes every secret of an app. */
export const deleteSecrets = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).delete();
};

import { camelKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { StoredSecret } from './client-secret.ts';

/** Stores the digest of a new current secret. */
export const insertSecret = async (
  trx: Transaction,
  secret: { digest: Buffer; clientId: string; createdAt: Date },
): Promise<void> => {
  await trx('app_secrets').insert(snakeKeys({ ...secret, expiresAt: null }));
};

/** Lists the secrets of an app, active or not. A deleted app has none. */
export const listSecrets = async (executor: Executor, clientId: string): Promise<StoredSecret[]> => {
  const rows = await executor('app_secrets')
    .where({ client_id: clientId })
    .select<{ digest: Buffer; expires_at: Date | null }[]>('digest', 'expires_at');
  return rows.map(camelKeys);
};

/** Sets the expiry of the current secret, and expires older ones now. */
export const expireSecrets = async (trx: Transaction, clientId: string, currentEndsAt: Date): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).whereNotNull('expires_at').delete();
  await trx('app_secrets').where({ client_id: clientId }).update({ expires_at: currentEndsAt });
};

/** Deletes every secret of an app. */
export const deleteSecrets = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).delete();
};

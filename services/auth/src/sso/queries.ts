import { snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

/** Identity of a person at the OpenID provider. */
export interface IdentityKey {
  readonly issuer: string;
  readonly subject: string;
}

/** Finds the account linked to an identity. */
export const findUserIdByIdentity = async (executor: Executor, key: IdentityKey): Promise<string | undefined> => {
  const row = await executor<{ issuer: string; subject: string; user_id: string }>('sso_identities')
    .where({ issuer: key.issuer, subject: key.subject })
    .first('user_id');
  return row?.user_id;
};

/** Links an identity to an account. Violates `sso_identities_pkey` if another request has just linked it. */
export const insertIdentity = async (
  trx: Transaction,
  { issuer, subject }: IdentityKey,
  link: { userId: string; linkedAt: Date },
): Promise<void> => {
  await trx('sso_identities').insert(snakeKeys({ issuer, subject, ...link }));
};

/** Deletes every identity of an account. */
export const deleteIdentitiesOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('sso_identities').where({ user_id: userId }).delete();
};

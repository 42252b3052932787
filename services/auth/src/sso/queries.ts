import type { Executor, Transaction } from '../transact.ts';

/** Who somebody is to the OpenID provider. */
export interface IdentityKey {
  issuer: string;
  subject: string;
}

/** The account that an identity signs in to. */
export const findUserIdByIdentity = async (executor: Executor, key: IdentityKey): Promise<string | undefined> => {
  const row = await executor<{ issuer: string; subject: string; user_id: string }>('sso_identities')
    .where({ issuer: key.issuer, subject: key.subject })
    .first('user_id');
  return row?.user_id;
};

/** Links an identity to an account. Violates `sso_identities_pkey` where another request has just linked it. */
export const insertIdentity = async (
  trx: Transaction,
  identity: IdentityKey & { userId: string; linkedAt: Date },
): Promise<void> => {
  await trx('sso_identities').insert({
    issuer: identity.issuer,
    subject: identity.subject,
    user_id: identity.userId,
    linked_at: identity.linkedAt,
  });
};

/** Removes every identity of an account. */
export const deleteIdentitiesOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('sso_identities').where({ user_id: userId }).delete();
};

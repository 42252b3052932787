import { snakeKeys } from '@svc/database';
import type { AccountRecord } from './accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from './mail/index.ts';
import type { Executor, Transaction } from './transact.ts';

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

/** Links an identity to an account. Returns false if it is linked already. Waits for a concurrent request. */
export const insertIdentity = async (
  trx: Transaction,
  { issuer, subject }: IdentityKey,
  link: { userId: string; linkedAt: Date },
): Promise<boolean> => {
  const rows = await trx('sso_identities')
    .insert(snakeKeys({ issuer, subject, ...link }))
    .onConflict(['issuer', 'subject'])
    .ignore()
    .returning('user_id');
  return rows.length > 0;
};

/** Deletes the identities of an account, or those linked since the given time. */
export const deleteIdentitiesOfUser = async (
  trx: Transaction,
  userId: string,
  since: Date | undefined,
): Promise<void> => {
  const identities = trx('sso_identities').where({ user_id: userId });
  await (since === undefined ? identities : identities.where('linked_at', '>=', since)).delete();
};

export interface IdentityDeps extends MailOutboxDeps {
  /** Name of the OpenID provider in mails and pages. */
  readonly providerName: string;
}

/** Thrown if an identity belongs to another account. */
export class IdentityTaken extends Error {
  override readonly name = 'IdentityTaken';
}

/**
 * Links an identity to a locked account and mails the owner. Does nothing if it is linked to it already. Throws
 * IdentityTaken.
 */
export const linkIdentity = async (
  deps: IdentityDeps,
  trx: Transaction,
  { account, identity }: { account: AccountRecord; identity: IdentityKey },
): Promise<void> => {
  const { id: userId, email: to, locale } = account;
  const isNew = await insertIdentity(trx, identity, { userId, linkedAt: deps.clock() });
  if (!isNew && (await findUserIdByIdentity(trx, identity)) !== userId) throw new IdentityTaken();
  if (!isNew) return;
  await enqueueMail(deps, trx, { kind: 'identity_linked', userId, to, locale, data: { provider: deps.providerName } });
};

import type { AccountRecord } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import { findUserIdByIdentity, type IdentityKey, insertIdentity } from './queries.ts';

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

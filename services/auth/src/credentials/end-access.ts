import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import type { Origin } from '../connections/index.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import { nextRevocation } from '../sessions/index.ts';
import { DAY_MS, later } from '../time.ts';
import type { Transaction } from '../transact.ts';
import { ACCESS_KINDS, type AccessKind, type Ending, type Extent } from './access-kinds.ts';

/** Time before a change of address in which an intruder may have prepared it. */
const PREPARATION_MS = DAY_MS;

/** A locked account whose access ends. */
export interface EndedAccess {
  readonly account: AccountRecord;
  /** Source of the request, for the audit trail of each connection. */
  readonly origin: Origin;
  readonly now: Date;
  readonly endings: readonly [Ending, ...Ending[]];
  /** Time since which credentials are distrusted. Required for `intrusion`. */
  readonly distrustedSince?: Date;
}

/**
 * Returns the time since which credentials are distrusted if the owner of the address did not ask to change it then. If
 * nothing had verified that address before, a stranger may have opened the account.
 */
export const distrustedSinceChange = (
  { createdAt, emailVerifiedAt }: Pick<AccountRecord, 'createdAt' | 'emailVerifiedAt'>,
  changedAt: Date,
): Date => {
  // Confirming the change verified the account, but another address.
  const wasVerified = emailVerifiedAt !== null && emailVerifiedAt <= changedAt;
  return wasVerified ? later(changedAt, -PREPARATION_MS) : createdAt;
};

/**
 * Ends the access to an account that `ACCESS_KINDS` lists for these endings. Returns the account's new state. Only a
 * sign-in that has read this state can start a session.
 */
export const endAccess = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { account, origin, now, endings, distrustedSince }: EndedAccess,
): Promise<AccountRecord> => {
  if (endings.includes('intrusion') && distrustedSince === undefined) throw new Error('an intrusion has no time');
  const revokedThrough = await nextRevocation(deps, trx, { account, now });
  for (const kind of ACCESS_KINDS) {
    const extent = widestExtent(kind, endings);
    if (extent === 'kept') continue;
    const since = extent === 'since' ? distrustedSince : undefined;
    await kind.end(deps, trx, { account, origin, now, revokedThrough, since });
  }
  const after = await findAccountById(trx, account.id);
  if (after === undefined) throw new Error('a locked account vanished');
  return after;
};

const widestExtent = ({ endedBy }: AccessKind, endings: readonly Ending[]): Extent => {
  const extents = endings.map((ending) => endedBy[ending]);
  return (['all', 'since'] as const).find((extent) => extents.includes(extent)) ?? 'kept';
};

import { randomUUID } from 'node:crypto';
import { authEvents, isRoleEnough } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type AccountRecord, findAccountById, updateCredentials } from '../accounts/index.ts';
import { endSecretsOfOwner, suspendAppsOfOwner } from '../apps/index.ts';
import { endConnectionsOfUser, endGrantsSince, type Origin } from '../connections/index.ts';
import { endFactors } from '../factors/index.ts';
import { deleteIdentitiesOfUser } from '../identities.ts';
import type { MailOutboxDeps } from '../mail/index.ts';
import { type MailedTokenPurpose, voidMailedTokens } from '../mailed-tokens.ts';
import { endManagementKeys } from '../management-keys/index.ts';
import {
  deleteInvitationsOfOrganization,
  endMembershipsElsewhere,
  endMembershipsOfOthers,
  hasOwnRoleChangedSince,
} from '../organizations/index.ts';
import { endAllSessions, findActing, nextRevocation } from '../sessions/index.ts';
import { DAY_MS, later } from '../time.ts';
import type { Transaction } from '../transact.ts';

/**
 * Reasons for which access ends. Several can hold at once, and the widest one counts.
 *
 * - `sign_out`: the password changed, or the owner or an operator signs out everywhere.
 * - `revocation`: the owner or an operator takes back all access too.
 * - `unproven_address`: the first proof of an address by its mailbox. Until then it may have been a stranger's account.
 * - `intrusion`: a change of address was undone. What was added since then, or shortly before, may be an intruder's.
 * - `take_over`: the account passes to the proven owner of an address that was never verified.
 * - `deletion`: the account is to be erased. Password, factors and identities stay for its owner, who may cancel that.
 */
export type Ending = 'sign_out' | 'revocation' | 'unproven_address' | 'intrusion' | 'take_over' | 'deletion';

/** Part of the credentials of a kind that ends: all, those added since the intrusion, or none. */
type Extent = 'all' | 'since' | 'kept';

/** Credentials that end, of a locked account. */
interface EndedKind {
  readonly account: AccountRecord;
  readonly origin: Origin;
  readonly now: Date;
  /** Newest ended session. */
  readonly revokedThrough: string;
  /** Undefined if all end, else the time since which they were added. */
  readonly since: Date | undefined;
}

/** A kind of credential, or of another way into an account. */
interface AccessKind {
  /** Tables whose rows are such credentials. None if they are elsewhere, or are signed and not stored. */
  readonly tables: readonly string[];
  readonly endedBy: Readonly<Record<Ending, Extent>>;
  /** Belongs to the organization that the account is, not to the person who signs in as it: a mere member ends none of it. */
  readonly isOfOrganization?: true;
  readonly end: (deps: MailOutboxDeps, trx: Transaction, ended: EndedKind) => Promise<void>;
}

type Extents = readonly [Extent, Extent, Extent, Extent, Extent, Extent];

/** Names the cells of a row of the table below. */
const endedBy = (extents: Extents): AccessKind['endedBy'] => {
  const [sign_out, revocation, unproven_address, intrusion, take_over, deletion] = extents;
  return { sign_out, revocation, unproven_address, intrusion, take_over, deletion };
};

const mailedLink = (purpose: MailedTokenPurpose, extents: Extents): AccessKind => ({
  tables: ['mailed_tokens'],
  endedBy: endedBy(extents),
  end: (_deps, trx, { account, since }) =>
    voidMailedTokens(trx, account.id, { purposes: [purpose], ...(since === undefined ? {} : { since }) }),
});

/** Links by what they do. A new purpose does not compile without its row. */
const MAILED_LINKS: Readonly<Record<MailedTokenPurpose, AccessKind>> = {
  verify_email: mailedLink('verify_email', ['kept', 'kept', 'kept', 'all', 'all', 'all']),
  reset_password: mailedLink('reset_password', ['all', 'all', 'all', 'all', 'all', 'all']),
  confirm_email: mailedLink('confirm_email', ['all', 'all', 'all', 'all', 'all', 'all']),
  // Mailed to an earlier address, whose owner wins against all later ones. Undoing a change voids later ones itself.
  undo_email: mailedLink('undo_email', ['kept', 'kept', 'kept', 'kept', 'all', 'kept']),
  link_identity: mailedLink('link_identity', ['all', 'all', 'all', 'all', 'all', 'all']),
  cancel_deletion: mailedLink('cancel_deletion', ['kept', 'kept', 'kept', 'all', 'all', 'all']),
};

/**
 * Every credential and every other way into an account, with what ends it. Each operation that ends access derives from
 * this table what it ends. The columns: sign_out, revocation, unproven_address, intrusion, take_over, deletion. Erasure
 * deletes all rows with the account.
 */
export const ACCESS_KINDS: readonly AccessKind[] = [
  {
    tables: ['accounts'],
    // Only the take-over finds no new owner of the password: the other operations set a new one, or leave it.
    endedBy: endedBy(['kept', 'kept', 'kept', 'kept', 'all', 'kept']),
    end: (_deps, trx, { account }) => updateCredentials(trx, account.id, { passwordHash: null }),
  },
  {
    // With them end session tokens, remembered devices, and sign-ins that wait for their second step.
    tables: ['console_sessions', 'sign_in_challenges'],
    endedBy: endedBy(['all', 'all', 'all', 'all', 'all', 'all']),
    end: (_deps, trx, { account, revokedThrough }) => endAllSessions(trx, { userId: account.id, revokedThrough }),
  },
  {
    tables: ['totp_factors', 'passkeys', 'recovery_codes'],
    endedBy: endedBy(['kept', 'kept', 'all', 'since', 'all', 'kept']),
    end: async (deps, trx, { account, since }) => void (await endFactors(deps, trx, { account, since })),
  },
  {
    tables: ['sso_identities'],
    endedBy: endedBy(['kept', 'kept', 'all', 'since', 'all', 'kept']),
    end: (_deps, trx, { account, since }) => deleteIdentitiesOfUser(trx, account.id, since),
  },
  {
    // An approved device code ends with its grant.
    tables: ['connections', 'grants', 'authorization_codes', 'device_codes', 'refresh_tokens'],
    endedBy: endedBy(['kept', 'all', 'kept', 'since', 'all', 'all']),
    end: (deps, trx, { account, since, origin, now }) =>
      since === undefined
        ? endConnectionsOfUser(deps, trx, { userId: account.id, origin, now })
        : endGrantsSince(deps, trx, { userId: account.id, since, origin, now }),
  },
  {
    // API keys, which the inference gateway stores.
    tables: [],
    isOfOrganization: true,
    endedBy: endedBy(['kept', 'all', 'kept', 'since', 'all', 'all']),
    end: (_deps, trx, ended) => endApiKeys(trx, ended),
  },
  {
    tables: ['management_keys'],
    isOfOrganization: true,
    endedBy: endedBy(['kept', 'all', 'kept', 'since', 'all', 'all']),
    end: (deps, trx, ended) => endManagementKeys(deps, trx, ended),
  },
  {
    // Their owner can activate apps again. Until then, requests that they have pushed are refused.
    tables: ['apps', 'pushed_requests'],
    endedBy: endedBy(['kept', 'kept', 'kept', 'kept', 'all', 'all']),
    end: (deps, trx, { account, now }) => suspendAppsOfOwner(deps, trx, { ownerUserId: account.id, now }),
  },
  {
    // Client secrets.
    tables: ['app_secrets'],
    endedBy: endedBy(['kept', 'kept', 'kept', 'kept', 'all', 'kept']),
    end: (_deps, trx, { account }) => endSecretsOfOwner(trx, account.id),
  },
  {
    // The account's place in other organizations.
    tables: ['memberships'],
    endedBy: endedBy(['kept', 'kept', 'all', 'since', 'all', 'all']),
    end: (_deps, trx, ended) => endMembershipsElsewhere(trx, ended),
  },
  {
    // Other people in the organization that the account is. They go with it when it is erased.
    tables: ['memberships'],
    isOfOrganization: true,
    endedBy: endedBy(['kept', 'kept', 'all', 'since', 'all', 'kept']),
    end: (deps, trx, ended) => endMembershipsOfOthers(deps, trx, ended),
  },
  {
    tables: ['invitations'],
    isOfOrganization: true,
    endedBy: endedBy(['kept', 'kept', 'all', 'since', 'all', 'all']),
    end: (_deps, trx, { account, since }) => deleteInvitationsOfOrganization(trx, account.id, since),
  },
  ...Object.values(MAILED_LINKS),
];

/**
 * Tells the inference gateway to delete API keys. If all end, a revocation disables them within a second. The fact
 * deletes them, because a revocation expires.
 */
const endApiKeys = async (trx: Transaction, { account, revokedThrough, since }: EndedKind): Promise<void> => {
  const fact = {
    subject: authEvents.accountAccessEnded.subject,
    aggregate: `access_end:${randomUUID()}`,
    version: 1,
    data: {
      svc_user_id: account.id,
      sessions_revoked_through: revokedThrough,
      ...(since === undefined ? {} : { keys_added_since: since.toISOString() }),
    },
  };
  if (since !== undefined) return await appendToOutbox(trx, fact);
  const revocation = { key: `keys.${account.id}`, value: { revoked_through: revokedThrough } };
  await appendToOutbox(trx, { revocation }, fact);
};

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
  const isOrganizationAffected = await mayEndOfOrganization(trx, { account, origin, endings, distrustedSince });
  for (const kind of ACCESS_KINDS) {
    const extent = widestExtent(kind, endings);
    if (extent === 'kept' || (kind.isOfOrganization && !isOrganizationAffected)) continue;
    const since = extent === 'since' ? distrustedSince : undefined;
    await kind.end(deps, trx, { account, origin, now, revokedThrough, since });
  }
  const after = await findAccountById(trx, account.id);
  if (after === undefined) throw new Error('a locked account vanished');
  return after;
};

/** Endings for which the account returns to its owner, or ends, no matter what others have made of it. */
const OVERRIDING: readonly Ending[] = ['unproven_address', 'take_over', 'deletion'];

/**
 * Returns false if the person who signs in as an organization is less than an admin of it, and did not lose that role to a
 * possible intruder. An operator may end everything.
 */
const mayEndOfOrganization = async (
  trx: Transaction,
  {
    account,
    origin,
    endings,
    distrustedSince,
  }: Pick<EndedAccess, 'account' | 'origin' | 'endings'> & {
    readonly distrustedSince: Date | undefined;
  },
): Promise<boolean> => {
  if (origin.clientKind === 'service' || endings.some((ending) => OVERRIDING.includes(ending))) return true;
  const acting = await findActing(trx, { organizationId: null }, account);
  if (acting === null || (acting !== undefined && isRoleEnough(acting.role, 'admin'))) return true;
  return distrustedSince !== undefined && (await hasOwnRoleChangedSince(trx, account.id, distrustedSince));
};

const widestExtent = ({ endedBy }: AccessKind, endings: readonly Ending[]): Extent => {
  const extents = endings.map((ending) => endedBy[ending]);
  return (['all', 'since'] as const).find((extent) => extents.includes(extent)) ?? 'kept';
};

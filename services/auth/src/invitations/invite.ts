import type { Locale, Role } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Act, AppError, invalidField } from '@svc/service-kit';
import { type AccountRecord, findAccountByEmail, findAccountById, normalizeEmail } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { type Actor, hasMemberWithAddress, lockOrganization, requireAuthority } from '../members/index.ts';
import { countMembers } from '../memberships/index.ts';
import type { SourceLimit } from '../throttling/index.ts';
import { later } from '../time.ts';
import type { Transact, Transaction } from '../transact.ts';
import {
  INVITATION_MS,
  type InvitationRecord,
  invitationDigest,
  maskAddress,
  newInvitationToken,
} from './invitation.ts';
import { listInvitationsOfOrganization, replaceInvitation, takeInvitation } from './queries.ts';

export interface InviteDeps extends MailOutboxDeps {
  readonly transact: Transact;
  /** Bounds the invitations of an organization per hour. */
  readonly invitationLimit: SourceLimit;
}

/** Limit of members per organization, invited ones included. The list of members has no pages. */
const MEMBERS_MAX = 1_000;

/**
 * Invites a person by a mailed link, in place of an earlier invitation of the same address. Throws `role_not_allowed`,
 * `already_member`, 422 if the organization is full, and `too_many_attempts` if the organization invites too many people or one person too often.
 */
export const invite = async (
  deps: InviteDeps,
  actor: Actor & { readonly act: Act },
  { email: address, role }: { email: string; role: Role },
): Promise<InvitationRecord> => {
  const { organizationId, personId: invitedBy } = actor;
  const email = normalizeEmail(address);
  await deps.invitationLimit.take(organizationId);
  const createdAt = deps.clock();
  const id = deps.newId('ivt', createdAt.getTime());
  const expiresAt = later(createdAt, INVITATION_MS);
  const invitation = { id, organizationId, email, role, invitedBy, createdAt, expiresAt };
  const token = newInvitationToken();
  await deps.transact(async (trx) => {
    const { organization, actor: membership } = await lockOrganization(trx, actor);
    requireAuthority(membership, { overOwners: role === 'owner' });
    if (await hasMemberWithAddress(trx, { organizationId, email })) throw new AppError('already_member');
    await requirePlace(trx, invitation);
    await replaceInvitation(trx, { ...invitation, digest: invitationDigest(token) });
    await recordAct(trx, actor.act, { type: 'invitation', id, name: maskAddress(email) });
    await mailInvitation(deps, trx, { organization, invitation, token });
  });
  return invitation;
};

/** Throws 422 if the members and those invited are as many as an organization may have. */
const requirePlace = async (
  trx: Transaction,
  { organizationId, email, createdAt }: InvitationRecord,
): Promise<void> => {
  const members = await countMembers(trx, organizationId);
  const waiting = await listInvitationsOfOrganization(trx, organizationId, createdAt);
  const others = waiting.filter((invitation) => invitation.email !== email);
  if (members + others.length < MEMBERS_MAX) return;
  throw invalidField(['body'], 'value_error', `Value error, an organization can have at most ${MEMBERS_MAX} members`);
};

const mailInvitation = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  mail: { organization: AccountRecord; invitation: InvitationRecord; token: string },
): Promise<void> => {
  const { id: userId, businessName, email: ownAddress } = mail.organization;
  const { email: to, role, invitedBy } = mail.invitation;
  const inviter = await findAccountById(trx, invitedBy);
  const locale: Locale = (await findAccountByEmail(trx, to))?.account.locale ?? inviter?.locale ?? 'it';
  const data = {
    token: mail.token,
    organization: businessName ?? ownAddress,
    inviter: inviter?.displayName ?? inviter?.email ?? ownAddress,
    role,
  };
  const queued = await enqueueMail(deps, trx, { kind: 'organization_invitation', userId, to, locale, data });
  if (queued === 'limited') throw new AppError('too_many_attempts', undefined, { headers: { 'retry-after': '3600' } });
};

/** Withdraws an invitation: its link stops working at the commit. Throws `not_found` and `role_not_allowed`. */
export const withdrawInvitation = (
  deps: Pick<InviteDeps, 'transact' | 'clock'>,
  actor: Actor & { readonly act: Act },
  id: string,
): Promise<void> =>
  deps.transact(async (trx) => {
    const { actor: membership } = await lockOrganization(trx, actor);
    requireAuthority(membership, { overOwners: false });
    const { organizationId } = actor;
    const taken = await takeInvitation(trx, { id, organizationId, now: deps.clock() });
    if (taken === undefined) throw new AppError('not_found');
    await recordAct(trx, actor.act, { type: 'invitation', id, name: maskAddress(taken.email) });
  });

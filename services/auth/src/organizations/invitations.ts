import { hash, randomBytes } from 'node:crypto';
import { type InvitationJson, type Locale, type newId, type OrganizationJson, type Role, routes } from '@svc/contracts';
import { camelKeys, recordAct, type SnakeKeys, snakeKeys } from '@svc/database';
import { type Act, AppError, type Binding, bind, type Clock, invalidField } from '@svc/service-kit';
import {
  type AccountRecord,
  findAccountByEmail,
  findAccountById,
  lockAccount,
  markVerified,
  normalizeEmail,
} from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { countMembers, findActingMembership, insertMembership, toOrganizationJson } from '../memberships.ts';
import type { SourceLimit } from '../throttling.ts';
import { DAY_MS, later } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { type Actor, hasMemberWithAddress, lockOrganization, requireAuthority, toActor } from './members.ts';

/** Life of the mailed link. */
const INVITATION_MS = 7 * DAY_MS;
const TOKEN_BYTES = 32;

/** An invitation that waits for its person, as stored without its digest. */
interface InvitationRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Creates the token of a link. Only its digest is stored. */
export const newInvitationToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

export const invitationDigest = (token: string): Buffer => hash('sha256', `invitation:${token}`, 'buffer');

const toInvitationJson = ({ id, email, role, expiresAt }: InvitationRecord): InvitationJson => ({
  id,
  email,
  role,
  expires_at: expiresAt.toISOString(),
});

/**
 * Returns what an audit log shows of an invited address: enough for the organization to recognize it. The log outlives the
 * account of a person who is erased.
 */
const maskAddress = (email: string): string => `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`;

type Row = SnakeKeys<InvitationRecord>;

const COLUMNS = Object.keys({
  id: true,
  organization_id: true,
  email: true,
  role: true,
  invited_by: true,
  created_at: true,
  expires_at: true,
} satisfies Record<keyof Row, true>);

/** Stores an invitation in place of an earlier one of the same address. */
const replaceInvitation = async (
  trx: Transaction,
  { digest, ...invitation }: InvitationRecord & { readonly digest: Buffer },
): Promise<void> => {
  const { organizationId, email } = invitation;
  await trx('invitations').where({ organization_id: organizationId, email }).delete();
  await trx('invitations').insert({ ...snakeKeys(invitation), digest });
};

/** Lists the invitations of an organization that wait, newest first. */
const listInvitationsOfOrganization = async (
  executor: Executor,
  organizationId: string,
  now: Date,
): Promise<InvitationRecord[]> => {
  const rows = await executor('invitations')
    .where({ organization_id: organizationId })
    .where('expires_at', '>', now)
    .orderBy('id', 'desc')
    .select<Row[]>(COLUMNS);
  return rows.map((row) => camelKeys(row));
};

/** Finds the invitation of a link that still works. */
const findInvitationByDigest = async (
  executor: Executor,
  { digest, now }: { digest: Buffer; now: Date },
): Promise<InvitationRecord | undefined> => {
  const row = await executor('invitations').where({ digest }).where('expires_at', '>', now).first<Row>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Deletes an invitation that waits, and returns it; undefined if there is none. */
const takeInvitation = async (
  trx: Transaction,
  { id, organizationId, now }: { id: string; organizationId: string; now: Date },
): Promise<InvitationRecord | undefined> => {
  const waiting = trx('invitations').where({ id, organization_id: organizationId }).where('expires_at', '>', now);
  const [row] = await waiting.delete().returning<Row[]>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Deletes the invitations of an organization, or those made since a time. */
export const deleteInvitationsOfOrganization = async (
  trx: Transaction,
  organizationId: string,
  since: Date | undefined,
): Promise<void> => {
  const ended = trx('invitations').where({ organization_id: organizationId });
  await (since === undefined ? ended : ended.where('created_at', '>=', since)).delete();
};

/** Deletes at most `limit` invitations that expired before the given time. Returns the number. */
export const deleteInvitationsExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('invitations').where('expires_at', '<', before).limit(limit);
  return await executor('invitations').whereIn('id', old.select('id')).delete();
};

interface AcceptInvitationDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

/**
 * Makes a person a member of the organization of a mailed link, and uses the link up. A member keeps the present role. The
 * link proves the address, to which it was mailed. Throws `token_invalid`, and `invitation_for_another` if the account has
 * another address.
 */
const acceptInvitation = (
  deps: AcceptInvitationDeps,
  { token, personId, act }: { token: string; personId: string; act: Act },
): Promise<OrganizationJson> =>
  deps.transact(async (trx) => {
    const now = deps.clock();
    const found = await findInvitationByDigest(trx, { digest: invitationDigest(token), now });
    if (found === undefined) throw new AppError('token_invalid');
    const { id, organizationId, role } = found;
    const organization = (await lockAccount(trx, organizationId))?.account;
    if (organization === undefined || organization.eraseAt !== null) throw new AppError('token_invalid');
    const account = (await lockAccount(trx, personId))?.account;
    if (account === undefined || account.eraseAt !== null) throw new AppError('invalid_token');
    if (account.email !== found.email) throw new AppError('invitation_for_another');
    // Another request may have used the link before the organization was locked.
    if ((await takeInvitation(trx, { id, organizationId, now })) === undefined) throw new AppError('token_invalid');
    await markVerified(trx, account, now);
    const membership = { id: deps.newId('mem', now.getTime()), organizationId, userId: personId, role };
    await insertMembership(trx, { ...membership, version: 1, joinedAt: now });
    await recordAct(trx, act, { type: 'member', id: personId, name: null, organizationId });
    const acting = await findActingMembership(trx, { organizationId, userId: personId });
    const joined = toOrganizationJson(acting ?? null);
    if (joined === null) throw new Error('a new member of a locked organization vanished');
    return joined;
  });

interface InviteDeps extends MailOutboxDeps {
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
const invite = async (
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

/** Points inside host names, and colons of schemes. Points of abbreviations such as S.p.A. stay. */
const LINKED = /(?<=[\p{L}\p{N}])(?:\.(?=\p{L}{2})|:(?=\/\/))/gu;
const WORD_JOINER = '\u2060';

/** Returns a name that mail programs do not turn into a link: strangers choose the names in a mail that we send. */
const unlinked = (name: string): string => name.replaceAll(LINKED, `$&${WORD_JOINER}`);

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
    organization: unlinked(businessName ?? ownAddress),
    inviter: unlinked(inviter?.displayName ?? inviter?.email ?? ownAddress),
    role,
  };
  const queued = await enqueueMail(deps, trx, { kind: 'organization_invitation', userId, to, locale, data });
  if (queued === 'limited') throw new AppError('too_many_attempts', undefined, { headers: { 'retry-after': '3600' } });
};

/** Withdraws an invitation: its link stops working at the commit. Throws `not_found` and `role_not_allowed`. */
const withdrawInvitation = (
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

/** Binds the routes of invitations. */
export const invitationRoutes = (
  deps: InviteDeps & AcceptInvitationDeps & { readonly database: Executor },
): Binding[] => [
  bind(routes.createInvitation, async ({ body, caller, act }) => {
    const invitation = await invite(deps, { ...toActor(caller), act }, body);
    return { status: 201, body: toInvitationJson(invitation) };
  }),
  bind(routes.listInvitations, async ({ caller }) => {
    const invitations = await listInvitationsOfOrganization(deps.database, caller.userId, deps.clock());
    return { status: 200, body: { data: invitations.map(toInvitationJson) } };
  }),
  bind(routes.withdrawInvitation, async ({ params, caller, act }) => {
    await withdrawInvitation(deps, { ...toActor(caller), act }, params.invitation_id);
    return { status: 204 };
  }),
  bind(routes.acceptInvitation, async ({ body, caller, act }) => {
    const organization = await acceptInvitation(deps, { token: body.token, personId: caller.personId, act });
    return { status: 200, body: { organization } };
  }),
];

import type { MemberJson } from '@svc/contracts';
import { camelKeys, type SnakeKeys } from '@svc/database';
import { AppError, type ConsoleSessionCaller, requireRole } from '@svc/service-kit';
import { type AccountRecord, lockAccount } from '../accounts/index.ts';
import {
  type ActingMembership,
  findActingMembership,
  type MembershipKey,
  type MembershipRecord,
  toActingFor,
} from '../memberships.ts';
import type { Executor, Transaction } from '../transact.ts';

/** A membership, with what others see of the person. */
export interface MemberRecord extends MembershipRecord {
  readonly displayName: string | null;
  readonly email: string;
  readonly hasSecondFactor: boolean;
}

const MEMBER = `SELECT m.*, a.display_name, a.email, a.has_second_factor
  FROM memberships m JOIN accounts a ON a.id = m.user_id WHERE m.organization_id = :organizationId`;

/** Lists the members of an organization in the order in which they joined. */
export const listMembersOfOrganization = async (
  executor: Executor,
  organizationId: string,
): Promise<MemberRecord[]> => {
  const { rows }: { rows: SnakeKeys<MemberRecord>[] } = await executor.raw(`${MEMBER} ORDER BY m.joined_at, m.id`, {
    organizationId,
  });
  return rows.map((row) => camelKeys(row));
};

export const findMember = async (executor: Executor, key: MembershipKey): Promise<MemberRecord | undefined> => {
  const { rows }: { rows: SnakeKeys<MemberRecord>[] } = await executor.raw(`${MEMBER} AND m.user_id = :userId`, {
    ...key,
  });
  return rows[0] === undefined ? undefined : camelKeys(rows[0]);
};

/** Returns true if a member of an organization has this address. */
export const hasMemberWithAddress = async (
  trx: Transaction,
  { organizationId, email }: { organizationId: string; email: string },
): Promise<boolean> => {
  const { rows } = await trx.raw(`${MEMBER} AND a.email = :email`, { organizationId, email });
  return rows.length > 0;
};

/** Lists the members without a second factor, but not the organization's own sign-in. Waits for changes of factors that have begun, and holds off later ones. */
export const holdMembersWithoutFactor = async (trx: Transaction, organizationId: string): Promise<string[]> => {
  const { rows }: { rows: { id: string; has_second_factor: boolean }[] } = await trx.raw(
    `SELECT a.id, a.has_second_factor FROM accounts a
     WHERE a.id IN (SELECT user_id FROM memberships WHERE organization_id = :organizationId AND user_id <> :organizationId) ORDER BY a.id FOR SHARE`,
    { organizationId },
  );
  return rows.filter((row) => !row.has_second_factor).map(({ id }) => id);
};

/** Lists the organizations of a person that require a second factor. */
export const listOrganizationsThatRequireFactor = async (trx: Transaction, userId: string): Promise<string[]> =>
  await trx('memberships as m')
    .join('accounts as o', 'o.id', 'm.organization_id')
    .where({ 'm.user_id': userId, 'o.requires_second_factor': true })
    .whereNot('o.id', userId)
    .orderBy('o.id')
    .pluck('o.id');

/** `plan_id` of the seat of each member who has one. */
type Seats = ReadonlyMap<string, string>;

/** Maps a member to the JSON that other members see. */
export const toMemberJson = (member: MemberRecord, seats: Seats): MemberJson => ({
  ...toSeatlessMemberJson(member),
  seat: seats.get(member.userId) ?? null,
});

/** Maps a member to the JSON that other services see, who know the seats themselves. */
export const toSeatlessMemberJson = (member: MemberRecord): Omit<MemberJson, 'seat'> => ({
  svc_user_id: member.userId,
  name: member.displayName ?? member.email,
  email: member.email,
  role: member.role,
  has_second_factor: member.hasSecondFactor,
  joined_at: member.joinedAt.toISOString(),
});

/** A person who acts for an organization. */
export interface Actor {
  readonly organizationId: string;
  readonly personId: string;
}

/** A locked organization, and the present role of the person who acts for it. */
interface LockedOrganization {
  readonly organization: AccountRecord;
  readonly actor: ActingMembership;
}

/**
 * Locks an organization until the transaction ends, so that changes of its members follow each other. Throws `invalid_token`
 * if the person no longer acts for it.
 */
export const lockOrganization = async (
  trx: Transaction,
  { organizationId, personId }: Actor,
): Promise<LockedOrganization> => {
  const organization = (await lockAccount(trx, organizationId))?.account;
  const actor = await findActingMembership(trx, { organizationId, userId: personId });
  if (organization === undefined || organization.eraseAt !== null || actor === undefined) {
    throw new AppError('invalid_token');
  }
  return { organization, actor };
};

/** Throws `role_not_allowed` unless the person has at least the role `admin`, or is an owner where owners are concerned. */
export const requireAuthority = (actor: ActingMembership, { overOwners }: { overOwners: boolean }): void =>
  requireRole(toActingFor(actor), overOwners ? 'owner' : 'admin');

/** Returns the person of a request for an organization. `authorize` has set `userId` to the organization. */
export const toActor = ({ userId, personId }: ConsoleSessionCaller): Actor => ({ organizationId: userId, personId });

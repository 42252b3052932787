import type { Membership, newId, OrganizationJson, Role } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { ActingFor } from '@svc/service-kit';
import type { Executor, Transaction } from './transact.ts';

/** A person's place in an organization, as stored. */
export interface MembershipRecord {
  readonly id: string;
  /** Business account that is the organization. */
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** Grows with each change of the role. */
  readonly version: number;
  readonly joinedAt: Date;
}

/** An organization and a person. */
export interface MembershipKey {
  readonly organizationId: string;
  readonly userId: string;
}

/** The organization that a person acts for. */
export interface ActingMembership {
  readonly organizationId: string;
  readonly name: string;
  readonly membershipId: string;
  readonly role: Role;
  readonly version: number;
}

/** Creates the first membership of an organization: that of the account which is the organization. */
export const foundersMembership = (
  deps: { readonly newId: typeof newId },
  organizationId: string,
  now: Date,
): MembershipRecord => ({
  id: deps.newId('mem', now.getTime()),
  organizationId,
  userId: organizationId,
  role: 'owner',
  version: 1,
  joinedAt: now,
});

export const toOrganizationJson = (acting: ActingMembership | null): OrganizationJson | null =>
  acting === null ? null : { id: acting.organizationId, name: acting.name, role: acting.role };

export const toActingFor = (acting: ActingMembership): ActingFor => ({
  id: acting.organizationId,
  role: acting.role,
  membershipId: acting.membershipId,
  version: acting.version,
});

export const toMembershipJson = (membership: Omit<MembershipRecord, 'joinedAt'>): Membership => ({
  id: membership.id,
  organization_id: membership.organizationId,
  svc_user_id: membership.userId,
  role: membership.role,
  version: membership.version,
});

type Row = SnakeKeys<MembershipRecord>;

const keyOf = ({ organizationId, userId }: MembershipKey) => ({ organization_id: organizationId, user_id: userId });

/** Stores a membership. Returns false if the person is a member already. */
export const insertMembership = async (trx: Transaction, membership: MembershipRecord): Promise<boolean> => {
  const inserted = trx('memberships').insert(snakeKeys(membership)).onConflict(['organization_id', 'user_id']);
  return (await inserted.ignore().returning('id')).length > 0;
};

export const findMembership = async (executor: Executor, key: MembershipKey): Promise<MembershipRecord | undefined> => {
  const row = await executor<Row>('memberships').where(keyOf(key)).first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Finds the organization that a person acts for; undefined if the person is no member of it. */
export const findActingMembership = async (
  executor: Executor,
  key: MembershipKey,
): Promise<ActingMembership | undefined> => {
  const { rows }: { rows: SnakeKeys<ActingMembership>[] } = await executor.raw(
    `SELECT o.id AS organization_id, coalesce(o.business_name, o.email) AS name, m.id AS membership_id,
       m.role, m.version
     FROM memberships m JOIN accounts o ON o.id = m.organization_id
     WHERE m.organization_id = :organizationId AND m.user_id = :userId`,
    { ...key },
  );
  return rows[0] === undefined ? undefined : camelKeys(rows[0]);
};

/** Lists the organizations of a person by name, without those to be erased. */
export const listOrganizationsOfUser = async (executor: Executor, userId: string): Promise<ActingMembership[]> => {
  const { rows }: { rows: SnakeKeys<ActingMembership>[] } = await executor.raw(
    `SELECT o.id AS organization_id, coalesce(o.business_name, o.email) AS name, m.id AS membership_id,
       m.role, m.version
     FROM memberships m JOIN accounts o ON o.id = m.organization_id
     WHERE m.user_id = :userId AND o.erase_at IS NULL ORDER BY 2, 1`,
    { userId },
  );
  return rows.map((row) => camelKeys(row));
};

/** Finds memberships; results are in the order of the ids. */
export const findMembershipsByIds = async (
  executor: Executor,
  ids: readonly string[],
): Promise<(Omit<MembershipRecord, 'joinedAt'> | undefined)[]> => {
  const { rows }: { rows: SnakeKeys<Omit<MembershipRecord, 'joinedAt'>>[] } = await executor.raw(
    `SELECT m.id, m.organization_id, m.user_id, m.role, m.version
     FROM memberships m JOIN accounts o ON o.id = m.organization_id WHERE m.id = ANY (?)`,
    [[...ids]],
  );
  const found = new Map(rows.map((row) => [row.id, camelKeys(row)]));
  return ids.map((id) => found.get(id));
};

/** Lists the memberships of an organization in the order in which they began. */
export const listMembershipsOfOrganization = async (
  executor: Executor,
  organizationId: string,
): Promise<MembershipRecord[]> => {
  const rows = await executor<Row>('memberships')
    .where({ organization_id: organizationId })
    .orderBy(['joined_at', 'id']);
  return rows.map((row) => camelKeys(row));
};

/** Lists the memberships of a person in organizations other than the own account. */
export const listMembershipsElsewhere = async (executor: Executor, userId: string): Promise<MembershipRecord[]> => {
  const rows = await executor<Row>('memberships')
    .where({ user_id: userId })
    .whereNot({ organization_id: userId })
    .orderBy('organization_id');
  return rows.map((row) => camelKeys(row));
};

/** Counts the members of an organization. Exact while the organization is locked. */
export const countMembers = async (trx: Transaction, organizationId: string): Promise<number> => {
  const members = trx('memberships').where({ organization_id: organizationId });
  const row = await members.count<{ count: string }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
};

/** Counts the owners of an organization. Exact while the organization is locked. */
export const countOwners = async (trx: Transaction, organizationId: string): Promise<number> => {
  const owners = trx('memberships').where({ organization_id: organizationId, role: 'owner' });
  const row = await owners.count<{ count: string }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
};

/** Changes the role of a member of a locked organization, and raises the version. */
export const updateRole = async (trx: Transaction, { id, role }: { id: string; role: Role }): Promise<void> => {
  await trx('memberships')
    .where({ id })
    .update({ role, version: trx.raw('version + 1') });
};

export const deleteMembership = async (trx: Transaction, id: string): Promise<void> => {
  await trx('memberships').where({ id }).delete();
};

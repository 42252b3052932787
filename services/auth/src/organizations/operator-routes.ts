import { type InspectedOrganization, type newId, organizationOperations } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { Act, AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import { findAccountByEmail, findAccountById, lockAccount, normalizeEmail } from '../accounts/index.ts';
import { findMembership, insertMembership } from '../memberships.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { changeRole } from './end-memberships.ts';
import { findMember, listMembersOfOrganization, type MemberRecord, toSeatlessMemberJson } from './members.ts';

interface AddOwnerDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

interface AddedOwner {
  readonly organizationId: string;
  readonly person: { readonly email: string } | { readonly svc_user_id: string };
}

/**
 * Makes a person an owner of an organization, as an operator does for one that lost its last owner. An owner stays as is.
 * Throws `not_found` for an account that does not exist, is to be erased, or is no organization.
 */
const addOwner = (deps: AddOwnerDeps, { organizationId, person }: AddedOwner): Promise<MemberRecord> =>
  deps.transact(async (trx) => {
    const organization = (await lockAccount(trx, organizationId))?.account;
    const account = await findPerson(trx, person);
    if (organization?.accountType !== 'business' || organization.eraseAt !== null) throw new AppError('not_found');
    if (account === undefined || account.eraseAt !== null) throw new AppError('not_found');
    const key = { organizationId, userId: account.id };
    const membership = await findMembership(trx, key);
    const joinedAt = deps.clock();
    const id = deps.newId('mem', joinedAt.getTime());
    if (membership === undefined) await insertMembership(trx, { id, ...key, role: 'owner', version: 1, joinedAt });
    else if (membership.role !== 'owner') await changeRole(trx, membership, 'owner');
    if (membership?.role !== 'owner') {
      const act = new Act('organization.owner_added', { organizationId, actorId: null, source: 'operator' });
      await recordAct(trx, act, { type: 'member', id: account.id, name: null });
    }
    const member = await findMember(trx, key);
    if (member === undefined) throw new Error('an owner of a locked organization vanished');
    return member;
  });

const findPerson = async (trx: Transaction, person: AddedOwner['person']) =>
  'email' in person
    ? (await findAccountByEmail(trx, normalizeEmail(person.email)))?.account
    : await findAccountById(trx, person.svc_user_id);

/** Returns an organization with its members, for an operator. Throws `not_found`, also for a personal account. */
const showOrganization = async (
  { database }: { readonly database: Executor },
  organizationId: string,
): Promise<InspectedOrganization> => {
  const organization = await findAccountById(database, organizationId);
  if (organization?.accountType !== 'business') throw new AppError('not_found');
  const members = await listMembersOfOrganization(database, organizationId);
  return {
    svc_user_id: organizationId,
    name: organization.businessName ?? organization.email,
    second_factor_required: organization.requiresSecondFactor,
    erased_at: organization.eraseAt?.toISOString() ?? null,
    members: members.map(toSeatlessMemberJson),
  };
};

interface MemberOperatorDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

/** Binds the operator routes of organizations. */
export const memberOperatorRoutes = (deps: MemberOperatorDeps): Binding[] => [
  bind(organizationOperations.showOrganization, async ({ params }) => ({
    status: 200,
    body: await showOrganization(deps, params.svc_user_id),
  })),
  bind(organizationOperations.addOwner, async ({ params, body }) => ({
    status: 200,
    body: toSeatlessMemberJson(await addOwner(deps, { organizationId: params.svc_user_id, person: body })),
  })),
];

import { internalRoutes, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type ConsoleSessionCaller } from '@svc/service-kit';
import { type AccountRecord, findAccountById, holdAccount, nameAccounts } from '../accounts/index.ts';
import { findMembership, listOrganizationsOfUser } from '../memberships.ts';
import {
  type BeginSessionDeps,
  holdSessionRow,
  insertNewSession,
  type SignInOrigin,
  type StartedSession,
  signInOriginOf,
  toSessionJson,
} from '../sessions/index.ts';
import type { Executor, Transaction } from '../transact.ts';

/**
 * Starts another session of a person, which acts for an organization, or for the account itself if that is null. It ends no
 * later than the present one and with the session of the sign-in, and the person counts as having authenticated at the same time. Throws `not_found` for an
 * organization of which the person is no member, and `organization_requires_second_factor`.
 */
const switchOrganization = (
  deps: BeginSessionDeps,
  caller: ConsoleSessionCaller,
  { organizationId, origin }: { organizationId: string | null; origin: SignInOrigin },
): Promise<StartedSession> =>
  deps.transact(async (trx) => {
    // A business account acts for itself without naming itself.
    const named = organizationId === caller.personId ? null : organizationId;
    const organization = named === null ? undefined : await holdOrganization(trx, named);
    const account = await holdAccount(trx, caller.personId);
    const present = await holdSessionRow(trx, caller.sessionId);
    if (account === undefined || present === undefined) throw new AppError('invalid_token');
    if (organizationId === caller.personId && account.accountType !== 'business') throw new AppError('not_found');
    const acting = organization ?? account;
    const needsMembership = organization !== undefined || account.accountType === 'business';
    const key = { organizationId: acting.id, userId: account.id };
    if (needsMembership && (await findMembership(trx, key)) === undefined) throw new AppError('not_found');
    if (organization?.requiresSecondFactor === true && !account.hasSecondFactor) {
      throw new AppError('organization_requires_second_factor');
    }
    return await insertNewSession(deps, trx, { account, origin, organization, switchedFrom: present });
  });

const holdOrganization = async (trx: Transaction, id: string): Promise<AccountRecord> => {
  // Holding a row that is none of an organization would let a stranger delay its owner.
  const organization = (await findAccountById(trx, id))?.accountType === 'business' && (await holdAccount(trx, id));
  if (!organization || organization.eraseAt !== null) throw new AppError('not_found');
  return organization;
};

/** Binds the routes of the organizations for which a person may act. */
export const organizationRoutes = (deps: BeginSessionDeps): Binding[] => [
  bind(routes.listOrganizations, async ({ caller }) => {
    const organizations = await listOrganizationsOfUser(deps.database, caller.personId);
    const data = organizations.map(({ organizationId: id, name, role }) => ({ id, name, role }));
    return { status: 200, body: { data } };
  }),
  bind(routes.switchOrganization, async ({ body, caller, clientAddress, req }) => {
    const origin = signInOriginOf({ req, clientAddress }, deps.publicBaseUrl);
    const started = await switchOrganization(deps, caller, { organizationId: body.organization_id, origin });
    // No cookie: a browser resumes the sign-in, and each tab switches for itself.
    return { status: 201, body: toSessionJson(started, deps.clock()) };
  }),
];

/** Binds the look-up of names by other services. */
export const organizationInternalRoutes = ({ database }: { readonly database: Executor }): Binding[] => [
  bind(internalRoutes.nameAccounts, async ({ body }) => {
    const names = await nameAccounts(database, body.svc_user_ids);
    const data = body.svc_user_ids.map((id) => ({ svc_user_id: id, name: names.get(id) ?? null }));
    return { status: 200, body: { data } };
  }),
];

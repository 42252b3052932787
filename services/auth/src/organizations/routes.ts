import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { nameAccounts } from '../accounts/index.ts';
import { listOrganizationsOfUser } from '../memberships/index.ts';
import { type BeginSessionDeps, signInOriginOf, toSessionJson } from '../sessions/index.ts';
import type { Executor } from '../transact.ts';
import { switchOrganization } from './switch-organization.ts';

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

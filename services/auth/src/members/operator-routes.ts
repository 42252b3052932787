import { type newId, organizationOperations } from '@svc/contracts';
import { type Binding, bind, type Clock } from '@svc/service-kit';
import type { Executor, Transact } from '../transact.ts';
import { addOwner } from './add-owner.ts';
import { toSeatlessMemberJson } from './member-json.ts';
import { showOrganization } from './show-organization.ts';

export interface MemberOperatorDeps {
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

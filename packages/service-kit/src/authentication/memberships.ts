import {
  internalRoutes,
  isRoleEnough,
  leastRole,
  MEMBERSHIP_LOOKUPS_MAX,
  type Membership,
  type RoleNeed,
} from '@svc/contracts';
import { AppError } from '../app-error.ts';
import { batchCalls } from '../batching/batch-calls.ts';
import type { Clock } from '../clock.ts';
import type { InternalClient } from '../create-internal-client.ts';
import type { ActingFor } from '../http/binding.ts';
import { createKeyCache } from './key-cache.ts';
import type { RevocationView } from './revocation-view.ts';

const WAITING_MAX = 10_000;

export interface MembershipResolverOptions {
  /** Client of the internal routes of auth. */
  readonly auth: Pick<InternalClient, 'call'>;
  readonly revocations: RevocationView;
  readonly clock: Clock;
}

/**
 * Creates a resolver of the present role of a membership that a token names. The role in the token holds until a
 * revocation says that it has changed; then auth is asked. Throws `invalid_token` if the membership has ended, and
 * `service_unavailable` if auth does not respond.
 */
export const createMembershipResolver = ({
  auth,
  revocations,
  clock,
}: MembershipResolverOptions): ((acting: ActingFor) => Promise<ActingFor>) => {
  const isCurrent = ({ id, version }: Membership) =>
    !revocations.isMembershipSuperseded?.({ membershipId: id, version });
  const lookUp = batchCalls({
    callsMax: MEMBERSHIP_LOOKUPS_MAX,
    waitingMax: WAITING_MAX,
    run: async (ids: readonly string[]) =>
      (await auth.call(internalRoutes.findMemberships, { body: { ids: [...ids] } })).body.data,
  });
  const find = createKeyCache<Membership>({
    find: async (id) => (await lookUp(id)) ?? undefined,
    clock: () => clock().getTime(),
  });
  return async (acting) => {
    const { membershipId, version } = acting;
    if (membershipId === null) return acting;
    const refreshing = revocations.refreshIfStale({ membershipId });
    if (refreshing !== undefined) await refreshing;
    if (!revocations.isMembershipSuperseded?.({ membershipId, version })) return acting;
    const membership = await find(membershipId, isCurrent);
    if (membership === undefined) throw new AppError('invalid_token');
    return { ...acting, role: membership.role, version: membership.version };
  };
};

/** Throws `role_not_allowed` if a member with this role may not do what needs another. Without an organization all is allowed. */
export const requireRole = (organization: ActingFor | null, need: RoleNeed): void => {
  if (organization === null || isRoleEnough(organization.role, need)) return;
  throw roleNotAllowed(need);
};

/** Creates the refusal of a member whose role is less than the need. */
export const roleNotAllowed = (need: RoleNeed): AppError =>
  new AppError('role_not_allowed', undefined, { details: { required_role: leastRole(need) } });

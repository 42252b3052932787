import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { grantLeases, type LeaseDeps } from './ask-leases.ts';
import { changeMemberLimit, type MemberLimitDeps, readMemberLimit } from './change-member-limit.ts';
import { readKeySpending } from './read-key-spending.ts';

/** Binds the internal routes of leases and of the spending of keys. */
export const leaseRoutes = (deps: LeaseDeps & { readonly currency: string }): readonly Binding[] => [
  bind(internalRoutes.askLeases, async (context) => {
    const { holder_id, asks } = context.body;
    context.nameRequests(asks.flatMap(({ needs }) => needs.map(({ request_id }) => request_id)));
    return { status: 200, body: { answers: [...(await grantLeases(deps, holder_id, asks))] } };
  }),
  bind(internalRoutes.readKeySpending, async ({ params, body }) => ({
    status: 200,
    body: await readKeySpending(deps, params.svc_user_id, body.key_ids),
  })),
];

/** Binds the routes of the limits of members. */
export const memberLimitRoutes = (deps: MemberLimitDeps): readonly Binding[] => [
  bind(routes.getMemberLimit, async ({ caller, params }) => ({
    status: 200,
    body: {
      monthly_limit_micros: await readMemberLimit(deps, {
        organizationId: caller.userId,
        userId: params.svc_user_id,
      }),
    },
  })),
  bind(routes.changeMemberLimit, async ({ caller, act, params, body }) => ({
    status: 200,
    body: {
      monthly_limit_micros: await changeMemberLimit(
        deps,
        { organizationId: caller.userId, userId: params.svc_user_id, act },
        body.monthly_limit_micros,
      ),
    },
  })),
];

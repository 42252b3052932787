import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { assignSeat, type SeatDeps } from './assign-seat.ts';
import { countSeats, listHolders, listLiveOrdersOf } from './queries.ts';

/** Seats of a plan, as the console shows them. */
export interface SeatsOfPlan {
  readonly plan_id: string;
  readonly quantity: number;
  readonly assigned: number;
}

/** Lists the seats that an organization pays, by plan. */
export const listSeats = async (database: Knex, organizationId: string): Promise<SeatsOfPlan[]> => {
  const orders = await listLiveOrdersOf(database, organizationId);
  return await Promise.all(
    orders.map(async ({ id, planId, quantity }) => ({
      plan_id: planId,
      quantity,
      assigned: await countSeats(database, id),
    })),
  );
};

/** Binds the routes of seats. Their purchase goes through the routes of payments. */
export const seatRoutes = (deps: SeatDeps): Binding[] => [
  bind(routes.listSeats, async ({ caller }) => ({
    status: 200,
    body: { data: await listSeats(deps.database, caller.userId) },
  })),
  bind(routes.assignSeat, async ({ caller, act, params, body }) => ({
    status: 200,
    body: await assignSeat(deps, { organizationId: caller.userId, userId: params.svc_user_id, act }, body.plan_id),
  })),
];

/** Binds the internal routes of seats. */
export const seatInternalRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.listSeatHolders, async ({ params }) => ({
    status: 200,
    body: { data: await listHolders(database, params.svc_user_id) },
  })),
];

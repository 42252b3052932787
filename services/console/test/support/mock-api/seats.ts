import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { openCheckout } from './billing.ts';
import { membershipOf, nameOf, organizationOf } from './organization-state.ts';
import { memberBody } from './organizations.ts';
import { type MockState, type Organization, possessionsOf, subscriptionTo } from './state.ts';

const seatsOf = ({ seats, memberships }: Organization) =>
  [...seats].map(([planId, quantity]) => ({
    plan_id: planId,
    quantity,
    assigned: memberships.filter(({ seat }) => seat === planId).length,
  }));

/** Seats, limits and usage of members. */
export const seatBindings = (state: MockState): Binding[] => [
  bind(routes.listSeats, async ({ caller }) => ({
    status: 200,
    body: { data: seatsOf(organizationOf(state, caller.userId)) },
  })),
  bind(routes.changeSeats, async ({ body, caller, req }) => {
    const organization = organizationOf(state, caller.userId);
    const present = seatsOf(organization).find(({ plan_id }) => plan_id === body.plan_id);
    if (present === undefined) {
      const origin = `http://${req.headers.host}`;
      const page = `${origin}/o/${organization.id}/organization/seats`;
      const { plan_id: planId, quantity: seats } = body;
      const urls = { successUrl: page, cancelUrl: `${page}?cancelled=1` };
      const checkout = { userId: organization.id, planId, seats, amountMicros: undefined, ...urls };
      const { session_id, url } = openCheckout(state, checkout, origin);
      return { status: 200, body: { session_id, url } };
    }
    if (body.quantity < present.assigned) throw new AppError('seats_assigned');
    organization.seats.set(body.plan_id, body.quantity);
    return { status: 200, body: { data: seatsOf(organization) } };
  }),
  bind(routes.assignSeat, async ({ params, body, caller }) => {
    const organization = organizationOf(state, caller.userId);
    const membership = membershipOf(organization, params.svc_user_id);
    if (membership === undefined) throw new AppError('not_found');
    const owned = possessionsOf(state, params.svc_user_id);
    if (body.plan_id !== null) {
      const seats = seatsOf(organization).find(({ plan_id }) => plan_id === body.plan_id);
      if (seats === undefined || seats.assigned >= seats.quantity) throw new AppError('no_free_seat');
      if (owned.subscription?.paid_by === null) throw new AppError('member_has_plan');
    }
    membership.seat = body.plan_id;
    const payer = { organization_id: organization.id, name: organization.name };
    owned.subscription = body.plan_id === null ? null : { ...subscriptionTo(body.plan_id), paid_by: payer };
    return { status: 200, body: memberBody(state, membership) };
  }),
  bind(routes.getMemberLimit, async ({ params, caller }) => {
    const { limits } = organizationOf(state, caller.userId);
    return { status: 200, body: { monthly_limit_micros: limits.get(params.svc_user_id) ?? null } };
  }),
  bind(routes.changeMemberLimit, async ({ params, body, caller }) => {
    const organization = organizationOf(state, caller.userId);
    if (membershipOf(organization, params.svc_user_id) === undefined) throw new AppError('not_found');
    organization.limits.set(params.svc_user_id, body.monthly_limit_micros);
    return { status: 200, body };
  }),
  bind(routes.summarizeMemberUsage, async ({ caller, query }) => {
    const { keys, usage } = possessionsOf(state, caller.userId);
    const data = organizationOf(state, caller.userId).memberships.map(({ userId, seat }) => {
      const own = new Set(keys.filter(({ created_by }) => created_by.svc_user_id === userId).map(({ id }) => id));
      const days = (startedAt: string): string => startedAt.slice(0, 10);
      const records = usage.filter(
        ({ key_id, started_at }) => own.has(key_id) && days(started_at) >= query.from && days(started_at) <= query.to,
      );
      return {
        svc_user_id: userId,
        name: nameOf(state, userId),
        requests: records.length,
        cost_micros: records.reduce((sum, { cost_micros }) => sum + (cost_micros ?? 0), 0),
        plan_used_micros: seat === null ? 0 : 1_250_000,
      };
    });
    return { status: 200, body: { data } };
  }),
];

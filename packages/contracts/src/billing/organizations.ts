import { z } from 'zod';
import { memberParams, memberSchema } from '../auth/organizations.ts';
import { idSchema } from '../core/ids.ts';
import { microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, listOf } from '../core/route.ts';

/** Seats in one order. */
const SEATS_MAX = 10_000;

/** Seats of one plan that an organization pays for. */
const seatsSchema = z
  .object({ plan_id: z.string(), quantity: z.int().min(0), assigned: z.int().min(0) })
  .meta({ id: 'Seats' });

const changeSeatsRequestSchema = z
  .strictObject({ plan_id: z.string().min(1).max(128), quantity: z.int().min(0).max(SEATS_MAX) })
  .meta({ id: 'ChangeSeatsRequest' });

/** The seats, or the checkout where a payment is needed first. */
const seatsChangedSchema = z.union([
  listOf(seatsSchema),
  z.object({ session_id: z.string(), url: z.string() }).meta({ id: 'SeatsCheckout' }),
]);

const assignSeatRequestSchema = z
  .strictObject({ plan_id: z.string().min(1).max(128).nullable() })
  .meta({ id: 'AssignSeatRequest' });

/** A limit for all API keys of a member together, in a UTC month; null for none. */
const memberLimitSchema = z
  .strictObject({ monthly_limit_micros: nonNegativeMicrosSchema.nullable() })
  .meta({ id: 'MemberLimit' });

/** Use of a member. */
const memberUsageSchema = z
  .object({
    svc_user_id: idSchema('usr'),
    name: z.string().nullable(),
    requests: z.int().min(0).meta({ description: 'Requests with API keys of the member.' }),
    cost_micros: microsSchema.meta({ description: 'Their cost, from the wallet.' }),
    plan_used_micros: microsSchema.meta({ description: 'Use of the seat, over all apps.' }),
  })
  .meta({ id: 'MemberUsage' });

const console = {
  service: 'billing',
  errorShape: 'detail',
  tag: 'Organizations',
  caller: 'console_session',
  managementScope: null,
  business: true,
} as const;

/** Routes of the money of an organization. */
export const organizationMoneyRoutes = {
  listSeats: defineRoute({
    ...console,
    operationId: 'listSeats',
    role: 'billing',
    method: 'GET',
    path: '/v1/console/organization/seats',
    summary: 'List the seats that the organization pays',
    description: 'By plan: how many, and how many of them members have.',
    request: {},
    responses: { 200: json('The seats.', listOf(seatsSchema)) },
    errors: [],
  }),
  changeSeats: defineRoute({
    ...console,
    stepUp: true,
    verifiedEmail: true,
    operationId: 'changeSeats',
    role: 'billing',
    audit: 'seats.changed',
    method: 'PUT',
    path: '/v1/console/organization/seats',
    summary: 'Change the number of seats of a plan',
    description:
      'The first seats of a plan are bought on the payment provider’s page, and confirmed with `confirmCheckout`. Later changes are prorated.',
    request: { body: jsonBody(changeSeatsRequestSchema) },
    responses: { 200: json('The seats, or where to pay for them.', seatsChangedSchema) },
    errors: ['not_found', 'seats_assigned', 'payment_provider_unavailable'],
  }),
  assignSeat: defineRoute({
    ...console,
    operationId: 'assignSeat',
    role: 'billing',
    audit: 'seat.assigned',
    method: 'PUT',
    path: '/v1/console/organization/members/{svc_user_id}/seat',
    summary: 'Give a member a seat, or take it away',
    description: 'The member’s plan begins at once. A seat that is taken away ends at once and is free.',
    request: { params: memberParams, body: jsonBody(assignSeatRequestSchema) },
    responses: { 200: json('The member.', memberSchema) },
    errors: ['not_found', 'no_free_seat', 'member_has_plan'],
  }),
  getMemberLimit: defineRoute({
    ...console,
    operationId: 'getMemberLimit',
    role: 'admin',
    method: 'GET',
    path: '/v1/console/organization/members/{svc_user_id}/limit',
    summary: 'Get the limit for all API keys of a member',
    description: 'Null without one.',
    request: { params: memberParams },
    responses: { 200: json('The limit.', memberLimitSchema) },
    errors: ['not_found'],
  }),
  changeMemberLimit: defineRoute({
    ...console,
    operationId: 'changeMemberLimit',
    role: 'admin',
    audit: 'member.limit_changed',
    method: 'PUT',
    path: '/v1/console/organization/members/{svc_user_id}/limit',
    summary: 'Limit what all API keys of a member may spend in a month',
    description: 'Bounds the keys together, exactly, beside the limit of each. Holds within a second.',
    request: { params: memberParams, body: jsonBody(memberLimitSchema) },
    responses: { 200: json('The limit.', memberLimitSchema) },
    errors: ['not_found'],
  }),
  summarizeMemberUsage: defineRoute({
    ...console,
    operationId: 'summarizeMemberUsage',
    role: 'viewer',
    method: 'GET',
    path: '/v1/console/organization/usage',
    summary: 'Sum up usage and money by member',
    description: 'UTC days from `from` to `to`, both included. Of a seat only the sum, never apps or times.',
    request: { query: z.object({ from: z.iso.date(), to: z.iso.date() }) },
    responses: { 200: json('The members, and people who have left.', listOf(memberUsageSchema)) },
    errors: [],
  }),
} as const;

/** A member and the organization, as billing keeps a seat. */
export const seatHolderSchema = z.object({ svc_user_id: idSchema('usr'), plan_id: z.string() });

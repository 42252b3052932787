import { z } from 'zod';
import { pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import {
  admissionRequestSchema,
  admissionSchema,
  keySpendingSchema,
  keyStandingRequestSchema,
  settlementsRequestSchema,
  settlementsSchema,
} from './admissions.ts';
import { holderLeaseSchema, holderRenewalSchema } from './holders.ts';
import { planServicesSchema } from './plans.ts';
import { subscriptionSnapshotSchema } from './subscriptions.ts';
import { requestStateSchema } from './usage.ts';
import { refundRequestSchema, refundSchema } from './wallets.ts';

const internal = { service: 'billing', caller: 'service', errorShape: 'detail', tag: 'Internal' } as const;
const holderParams = z.object({ holder_id: z.uuid() });
const accountParams = z.object({ svc_user_id: pathIdSchema });

/** Internal routes of the billing service. */
export const billingInternalRoutes = {
  admitRequest: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'admitRequest',
    method: 'POST',
    path: '/internal/admissions',
    summary: 'Admit or refuse a request, and reserve its cost',
    request: { body: jsonBody(admissionRequestSchema) },
    responses: { 200: json('The decision.', admissionSchema) },
    errors: [],
  }),
  readKeyStanding: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'readKeyStanding',
    method: 'POST',
    path: '/internal/accounts/{svc_user_id}/key-standing',
    summary: 'Check if an API key can spend anything now',
    description:
      'Reads without a lock and reserves nothing: `admitted` if the wallet has balance available and neither limit of the key is reached.',
    request: { params: accountParams, body: jsonBody(keyStandingRequestSchema) },
    responses: { 200: json('The decision on a request without cost.', admissionSchema) },
    errors: [],
  }),
  readKeySpending: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'readKeySpending',
    method: 'POST',
    path: '/internal/accounts/{svc_user_id}/key-spending',
    summary: 'Get the spending of API keys this month, and the available balance of their wallet',
    request: { params: accountParams, body: jsonBody(z.object({ key_ids: z.array(pathIdSchema).max(100) })) },
    responses: { 200: json('The spending, in the given order.', keySpendingSchema) },
    errors: [],
  }),
  settleRequests: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'settleRequests',
    method: 'POST',
    path: '/internal/settlements',
    summary: 'Report the outcomes of requests',
    request: { body: jsonBody(settlementsRequestSchema) },
    responses: { 200: json('The states.', settlementsSchema) },
    errors: [],
  }),
  renewHolder: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'renewHolder',
    method: 'PUT',
    path: '/internal/holders/{holder_id}',
    summary: 'Renew the lease of a gateway process, and report what its requests under way have cost so far',
    description: 'Once the lease has expired, the reservations that name the holder become uncertain.',
    request: { params: holderParams, body: jsonBody(holderRenewalSchema) },
    responses: { 200: json('The lease.', holderLeaseSchema) },
    errors: [],
  }),
  endHolder: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'endHolder',
    method: 'DELETE',
    path: '/internal/holders/{holder_id}',
    summary: 'End the lease of a gateway process that stops and has nothing under way',
    request: { params: holderParams },
    responses: { 204: { description: 'The lease has ended.' } },
    errors: [],
  }),
  readRequestStates: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'readRequestStates',
    method: 'POST',
    path: '/internal/request-states',
    summary: 'Get the states of requests, in the given order; null for requests never admitted',
    request: { body: jsonBody(z.object({ request_ids: z.array(pathIdSchema).min(1).max(100) })) },
    responses: { 200: json('The states.', z.object({ states: z.array(requestStateSchema.nullable()).max(100) })) },
    errors: [],
  }),
  readSubscriptionSnapshots: defineRoute({
    ...internal,
    callers: ['webhook-dispatcher'],
    operationId: 'readSubscriptionSnapshots',
    method: 'POST',
    path: '/internal/subscription-snapshots',
    summary: 'Get the subscription snapshots of accounts, in the given order; null without a subscription',
    request: { body: jsonBody(z.object({ svc_user_ids: z.array(pathIdSchema).min(1).max(100) })) },
    responses: {
      200: json('The snapshots.', z.object({ snapshots: z.array(subscriptionSnapshotSchema.nullable()).max(100) })),
    },
    errors: [],
  }),
  getSubscriptionSnapshot: defineRoute({
    ...internal,
    callers: ['webhook-dispatcher'],
    operationId: 'getSubscriptionSnapshot',
    method: 'GET',
    path: '/internal/accounts/{svc_user_id}/subscription-snapshot',
    summary: 'Get the subscription snapshot of an account; null without a subscription',
    description: 'For dispatchers and billing services of the previous release, which have no other way.',
    request: { params: accountParams },
    responses: { 200: json('The snapshot.', z.object({ snapshot: subscriptionSnapshotSchema.nullable() })) },
    errors: [],
  }),
  refundTopUp: defineRoute({
    ...internal,
    callers: ['operator'],
    operationId: 'refundTopUp',
    method: 'POST',
    path: '/internal/accounts/{svc_user_id}/wallet/refunds',
    summary: 'Refund a top-up, in full or in part',
    description:
      'For operators. Takes the amount from the wallet, never below zero, then refunds it through the payment provider.',
    request: { params: accountParams, body: jsonBody(refundRequestSchema) },
    responses: { 200: json('The refund.', refundSchema) },
    errors: ['not_found', 'refund_not_possible', 'payment_provider_unavailable'],
  }),
  getEntitlements: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'getEntitlements',
    method: 'GET',
    path: '/internal/accounts/{svc_user_id}/entitlements',
    summary: 'Get the services of the current paid period; none without an active subscription',
    request: { params: accountParams },
    responses: { 200: json('The services.', z.object({ services: planServicesSchema })) },
    errors: [],
  }),
} as const;

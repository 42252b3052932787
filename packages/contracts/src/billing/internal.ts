import { z } from 'zod';
import { pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import {
  admissionRequestSchema,
  admissionSchema,
  admissionsRequestSchema,
  admissionsSchema,
  keyStandingRequestSchema,
  settlementsRequestSchema,
  settlementsSchema,
} from './admissions.ts';
import { appTermsChangeSchema, appTermsListSchema, appTermsSchema } from './app-budgets.ts';
import { holderLeaseSchema, holderRenewalSchema } from './holders.ts';
import { planServicesSchema } from './plans.ts';
import { keyReceiptRequestSchema, receiptSchema } from './receipts.ts';
import { subscriptionSnapshotSchema } from './subscriptions.ts';
import { requestStateSchema } from './usage.ts';
import { refundRequestSchema, refundSchema } from './wallets.ts';

const internal = { service: 'billing', caller: 'service', errorShape: 'detail', tag: 'Internal' } as const;
const holderParams = z.object({ holder_id: z.uuid() });
const accountParams = z.object({ svc_user_id: pathIdSchema });
const accountAppParams = accountParams.extend({ client_id: pathIdSchema });

/** Internal routes of the billing service. */
export const billingInternalRoutes = {
  admitRequest: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'admitRequest',
    method: 'POST',
    path: '/internal/admissions',
    summary: 'Admit or refuse a request, and reserve its cost',
    description: 'For gateways of the previous release.',
    request: { body: jsonBody(admissionRequestSchema) },
    responses: { 200: json('The decision.', admissionSchema) },
    errors: [],
  }),
  admitRequests: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'admitRequests',
    method: 'POST',
    path: '/internal/admission-batches',
    summary: 'Admit or refuse requests, and reserve their cost',
    description: 'Requests are decided one by one, but answered together.',
    request: { body: jsonBody(admissionsRequestSchema) },
    responses: { 200: json('The decisions.', admissionsSchema) },
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
  signKeyReceipt: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'signKeyReceipt',
    method: 'POST',
    path: '/internal/key-receipts',
    summary: 'Sign the receipt of an API-key request',
    request: { body: jsonBody(keyReceiptRequestSchema) },
    responses: { 200: json('The receipt.', receiptSchema) },
    errors: ['not_found', 'not_settled'],
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
  changeAppTerms: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'changeAppTerms',
    method: 'PATCH',
    path: '/internal/accounts/{svc_user_id}/apps/{client_id}/terms',
    summary: "Set an app's budget, and pause or resume its use of the plan",
    description: 'Holds from the next admission on. Repeating it changes nothing.',
    request: { params: accountAppParams, body: jsonBody(appTermsChangeSchema) },
    responses: { 200: json('The terms.', appTermsSchema) },
    errors: [],
  }),
  listAppTerms: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'listAppTerms',
    method: 'GET',
    path: '/internal/accounts/{svc_user_id}/app-terms',
    summary: 'List the apps that have a budget or are paused',
    request: { params: accountParams },
    responses: { 200: json('The terms.', appTermsListSchema) },
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

import { z } from 'zod';
import { idSchema, pathClientIdSchema, pathIdSchema } from '../core/ids.ts';
import { defineRoute, json, jsonBody, listOf, pageOf } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import {
  admissionsRequestSchema,
  admissionsSchema,
  keySpendingSchema,
  settlementsRequestSchema,
  settlementsSchema,
} from './admissions.ts';
import { appTermsChangeSchema, appTermsListSchema, appTermsSchema, typicalUseSchema } from './app-budgets.ts';
import { leasesRequestSchema, leasesSchema } from './leases.ts';
import { seatHolderSchema } from './organizations.ts';
import { planSchema, planServicesSchema } from './plans.ts';
import { keyReceiptRequestSchema, receiptSchema } from './receipts.ts';
import { subscriptionSnapshotSchema } from './subscriptions.ts';
import { accountUsageSchema, requestStateSchema } from './usage.ts';
import { refundRequestSchema, refundSchema } from './wallets.ts';

/** Lease of a holder. A holder that has not renewed for this long counts as dead. */
export const HOLDER_LEASE_SECONDS = 10;

/** Renewal of a gateway process's lease. */
export const holderRenewalSchema = z.object({
  internal_url: z.url().meta({ description: "The process's own internal listener, where billing recalls its leases." }),
});

export type HolderRenewal = z.infer<typeof holderRenewalSchema>;

export const holderLeaseSchema = z.object({ lease_seconds: z.int().min(1) });

const internal = { service: 'billing', caller: 'service', errorShape: 'detail', tag: 'Internal' } as const;
const holderParams = z.object({ holder_id: z.uuid() });
const accountParams = z.object({ svc_user_id: pathIdSchema });
const accountAppParams = accountParams.extend({ client_id: pathClientIdSchema });

/** Internal routes of the billing service. */
export const billingInternalRoutes = {
  listOfferedPlans: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'listOfferedPlans',
    method: 'GET',
    path: '/internal/plans',
    summary: 'List the plans on offer, for the page that shows them',
    request: {},
    responses: { 200: json('The plans.', listOf(planSchema)) },
    errors: [],
  }),
  admitRequests: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'admitRequests',
    method: 'POST',
    path: '/internal/admission-batches',
    summary: 'Admit or refuse delegated requests, and reserve their cost',
    description: 'Decides each request independently, and returns all decisions together.',
    request: { body: jsonBody(admissionsRequestSchema) },
    responses: { 200: json('The decisions.', admissionsSchema) },
    errors: [],
  }),
  askLeases: defineRoute({
    ...internal,
    callers: ['inference-gateway'],
    operationId: 'askLeases',
    method: 'POST',
    path: '/internal/leases',
    summary: 'Report leases of API keys, and ask for what their requests need',
    description:
      'Decides each lease on its own. Before it refuses a request, it recalls what other leases hold unspent. A repeated report changes nothing.',
    request: { body: jsonBody(leasesRequestSchema) },
    responses: { 200: json('The answers.', leasesSchema) },
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
    summary: 'Renew the lease of a gateway process',
    description: 'When the lease expires, the reservations of the holder become uncertain.',
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
    summary: 'End the lease of a gateway process that stops with no requests in flight',
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
    summary: 'Get the states of API-key requests of an account, in the given order; null until a request has ended',
    request: {
      body: jsonBody(z.object({ svc_user_id: idSchema('usr'), request_ids: z.array(pathIdSchema).min(1).max(100) })),
    },
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
    description: 'Waits for a request that has ended, and whose outcome is on its way.',
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
    request: { body: jsonBody(z.object({ svc_user_ids: z.array(pathIdSchema).max(100) })) },
    responses: {
      200: json('The snapshots.', z.object({ snapshots: z.array(subscriptionSnapshotSchema.nullable()).max(100) })),
    },
    errors: [],
  }),
  changeAppTerms: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'changeAppTerms',
    method: 'PATCH',
    path: '/internal/accounts/{svc_user_id}/apps/{client_id}/terms',
    summary: "Set an app's budget, and pause or resume its use of the plan",
    description: 'Takes effect with the next admission. Idempotent.',
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
    summary: 'List the apps of an account that have a budget or are paused',
    request: { params: accountParams },
    responses: { 200: json('The terms.', appTermsListSchema) },
    errors: [],
  }),
  readTypicalUse: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'readTypicalUse',
    method: 'GET',
    path: '/internal/apps/{client_id}/typical-use',
    summary: 'Get how much of a plan an app typically uses',
    description: 'From the last four weeks, over at least 20 users, as one whole percentage.',
    request: { params: z.object({ client_id: pathClientIdSchema }) },
    responses: { 200: json('The typical use.', typicalUseSchema) },
    errors: [],
  }),
  listSeatHolders: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'listSeatHolders',
    method: 'GET',
    path: '/internal/organizations/{svc_user_id}/seats',
    summary: 'List the members who have seats of an organization',
    request: { params: accountParams },
    responses: { 200: json('The members with their plans.', listOf(seatHolderSchema)) },
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
      'For operators. Debits the wallet, never below zero, then refunds the payment through the payment provider.',
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
  readAccountUsage: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'readAccountUsage',
    method: 'GET',
    path: '/internal/accounts/{svc_user_id}/usage',
    summary: 'Get the shared limits and usage of an account, for the consent page',
    request: { params: accountParams },
    responses: { 200: json('The limits and the usage.', accountUsageSchema) },
    errors: [],
  }),
  listErasedAccounts: defineRoute({
    ...internal,
    callers: ['auth'],
    operationId: 'listErasedAccounts',
    method: 'GET',
    path: '/internal/erased-accounts',
    summary: 'List accounts whose erasure reached billing since a moment',
    description:
      'For auth, whose database may have been restored to a moment before. May name accounts that were erased earlier. Sorted by id, in pages.',
    request: { query: z.object({ since: timestampSchema, after: idSchema('usr').optional() }) },
    responses: { 200: json('The ids.', pageOf(idSchema('usr'))) },
    errors: [],
  }),
} as const;

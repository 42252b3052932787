import { z } from 'zod';
import { errorBodySchema } from '../core/error-body.ts';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { jwksSchema } from '../core/jwks.ts';
import { FORM_BYTES_MAX, JSON_BYTES_MAX } from '../core/limits.ts';
import { listOf, pageOf, pageQuery } from '../core/lists.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { planSchema } from './plans.ts';
import { receiptSchema } from './receipts.ts';
import * as sandboxShapes from './sandbox-payments.ts';
import * as subscriptions from './subscriptions.ts';
import {
  integrationUsageSchema,
  requestIdParams,
  requestUsageSchema,
  usageHistoryQuerySchema,
  usageHistorySchema,
  usageSchema,
} from './usage.ts';
import { topUpRequestSchema, topUpSessionSchema, walletSchema, walletTransactionSchema } from './wallets.ts';

const detail = { service: 'billing', errorShape: 'detail' } as const;
const console = { ...detail, tag: 'Subscriptions', caller: 'console_session' } as const;
const app = {
  ...detail,
  tag: 'Usage',
  caller: 'oauth_access_token',
  scopes: ['usage:read'],
  crossOrigin: true,
} as const;
const wallets = { ...detail, tag: 'Wallet', caller: 'console_session' } as const;
const sandbox = { ...detail, tag: 'Sandbox payments', caller: 'public' } as const;
const html = (description: string) => ({ description, contentType: 'text/html', schema: z.string() }) as const;
const missingPage = {
  404: {
    ...html('A page for browsers; JSON with the code otherwise.'),
    alternatives: { 'application/json': errorBodySchema },
  },
} as const;
const sessionParams = z.object({ session_id: pathIdSchema });
const subscriptionParams = z.object({ subscription_id: pathIdSchema });
const form = <S extends z.ZodType>(schema: S) =>
  ({ contentType: 'application/x-www-form-urlencoded', schema, required: true, bytesMax: FORM_BYTES_MAX }) as const;

/** Routes of subscriptions and plans. */
const subscriptionRoutes = {
  getSubscription: defineRoute({
    ...console,
    operationId: 'getSubscription',
    method: 'GET',
    path: '/v1/subscriptions',
    summary: 'Get the current subscription',
    request: {},
    responses: { 200: json('The subscription.', subscriptions.currentSubscriptionSchema) },
    errors: [],
  }),
  createCheckout: defineRoute({
    ...console,
    operationId: 'createCheckout',
    method: 'POST',
    path: '/v1/subscriptions/checkout',
    summary: 'Start a purchase',
    request: { body: jsonBody(subscriptions.checkoutRequestSchema) },
    responses: { 200: json('The hosted checkout.', subscriptions.checkoutSessionSchema) },
    errors: ['subscription_already_active', 'payment_provider_unavailable'],
  }),
  confirmCheckout: defineRoute({
    ...console,
    operationId: 'confirmCheckout',
    method: 'POST',
    path: '/v1/subscriptions/checkout/confirm',
    summary: 'Confirm a purchase after the checkout',
    description: 'Idempotent. Also completes a wallet top-up.',
    request: { body: jsonBody(subscriptions.checkoutConfirmationSchema) },
    responses: { 200: json('The purchased subscription or wallet.', subscriptions.checkoutConfirmedSchema) },
    errors: ['not_found', 'checkout_not_completed', 'subscription_already_active', 'payment_provider_unavailable'],
  }),
  createPortalSession: defineRoute({
    ...console,
    operationId: 'createPortalSession',
    method: 'POST',
    path: '/v1/subscriptions/portal',
    summary: 'Open the billing portal',
    request: { body: jsonBody(subscriptions.portalRequestSchema) },
    responses: { 200: json('The hosted portal.', subscriptions.portalSessionSchema) },
    errors: ['billing_account_missing', 'payment_provider_unavailable'],
  }),
  listPlans: defineRoute({
    ...detail,
    tag: 'Subscriptions',
    caller: 'public',
    operationId: 'listPlans',
    method: 'GET',
    path: '/v1/subscriptions/plans',
    summary: 'List the plans',
    request: {},
    responses: { 200: json('The plans.', listOf(planSchema)) },
    errors: [],
  }),
  getSubscriptionUsage: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getSubscriptionUsage',
    method: 'GET',
    path: '/v1/subscriptions/usage',
    summary: 'Get usage and caps',
    request: {},
    responses: { 200: json('The usage.', usageSchema) },
    errors: [],
  }),
  getUsageHistory: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getUsageHistory',
    method: 'GET',
    path: '/v1/subscriptions/usage/history',
    summary: 'List the use of the subscription by day',
    description: 'By service and by app. Metadata only.',
    request: { query: usageHistoryQuerySchema },
    responses: { 200: json('The days, oldest first.', usageHistorySchema) },
    errors: [],
  }),
} as const;

/** Routes of usage, for apps. */
const appUsageRoutes = {
  getIntegrationUsage: defineRoute({
    ...app,
    operationId: 'getIntegrationUsage',
    method: 'GET',
    path: '/v1/integrations/usage',
    summary: "Get shared limits and usage, and the app's own budget",
    request: {},
    responses: { 200: json('The usage.', integrationUsageSchema) },
    errors: [],
  }),
  getRequestUsage: defineRoute({
    ...app,
    operationId: 'getRequestUsage',
    method: 'GET',
    path: '/v1/integrations/usage/requests/{request_id}',
    summary: 'Get state and cost of a request',
    description: 'The id is the `X-Request-Id` of the response.',
    request: { params: requestIdParams },
    responses: { 200: json('The request.', requestUsageSchema) },
    errors: ['not_found'],
  }),
} as const;

/** Routes of signed receipts. */
const receiptRoutes = {
  getRequestReceipt: defineRoute({
    ...app,
    operationId: 'getRequestReceipt',
    method: 'GET',
    path: '/v1/integrations/usage/requests/{request_id}/receipt',
    summary: 'Get the signed receipt of a request',
    description: 'Names no provider and no model.',
    request: { params: requestIdParams },
    responses: { 200: json('The receipt.', receiptSchema) },
    errors: ['not_found', 'not_settled'],
  }),
  getReceiptJwks: defineRoute({
    ...detail,
    tag: 'Usage',
    caller: 'public',
    operationId: 'getReceiptJwks',
    method: 'GET',
    path: '/v1/receipts/jwks',
    summary: 'Get the public keys of receipts (RFC 7517)',
    description: 'Keys stay published after their rotation, so that every receipt can be verified later.',
    request: {},
    responses: { 200: json('The key set.', jwksSchema) },
    errors: [],
  }),
} as const;

/** Routes of the API-key gateway's prepaid wallet. */
const walletRoutes = {
  getWallet: defineRoute({
    ...wallets,
    operationId: 'getWallet',
    method: 'GET',
    path: '/v1/gateway/wallet',
    summary: 'Get the wallet balance',
    request: {},
    responses: { 200: json('The wallet.', walletSchema) },
    errors: [],
  }),
  listWalletTransactions: defineRoute({
    ...wallets,
    operationId: 'listWalletTransactions',
    method: 'GET',
    path: '/v1/gateway/wallet/transactions',
    summary: 'List the changes of the wallet, newest first',
    description: 'Usage is one row for each UTC day.',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The transactions.', pageOf(walletTransactionSchema)) },
    errors: [],
  }),
  createTopUp: defineRoute({
    ...wallets,
    operationId: 'createTopUp',
    method: 'POST',
    path: '/v1/gateway/wallet/top-ups',
    summary: 'Buy balance',
    request: { body: jsonBody(topUpRequestSchema) },
    responses: { 200: json('The hosted checkout.', topUpSessionSchema) },
    errors: ['payment_provider_unavailable'],
  }),
} as const;

/** Routes called by payment providers. */
const paymentRoutes = {
  receiveStripeEvent: defineRoute({
    ...detail,
    tag: 'Payments',
    caller: 'public',
    operationId: 'receiveStripeEvent',
    method: 'POST',
    path: '/v1/payments/stripe/events',
    summary: 'Receive signed events of the payment provider',
    request: {
      body: {
        contentType: 'application/json',
        schema: z.unknown(),
        required: true,
        bytesMax: JSON_BYTES_MAX,
        raw: true,
      },
    },
    responses: { 200: json('Taken.', z.object({ received: z.literal(true) })) },
    errors: ['invalid_signature'],
  }),
} as const;

/** Routes of sandbox payments. Not mounted with a real payment provider. */
const sandboxRoutes = {
  showSandboxCheckout: defineRoute({
    ...sandbox,
    operationId: 'showSandboxCheckout',
    method: 'GET',
    path: '/sandbox/payments/sessions/{session_id}',
    summary: 'Show the hosted checkout page',
    request: { params: sessionParams, query: sandboxShapes.sandboxPageQuerySchema },
    responses: { 200: html('The page.'), ...missingPage },
    errors: ['not_found'],
  }),
  submitSandboxCheckout: defineRoute({
    ...sandbox,
    operationId: 'submitSandboxCheckout',
    method: 'POST',
    path: '/sandbox/payments/sessions/{session_id}/submit',
    summary: 'Submit the checkout page: pay, answer the bank, or go back',
    request: { params: sessionParams, body: form(sandboxShapes.sandboxCheckoutFormSchema) },
    responses: { 303: { description: 'To the page, or to the success or cancel URL.' } },
    errors: ['not_found'],
  }),
  completeSandboxCheckout: defineRoute({
    ...sandbox,
    operationId: 'completeSandboxCheckout',
    method: 'POST',
    path: '/sandbox/payments/sessions/{session_id}/complete',
    summary: 'Pay without a browser',
    request: { params: sessionParams },
    responses: { 200: json('Paid.', z.object({ session_id: z.string(), status: z.literal('complete') })) },
    errors: ['not_found', 'checkout_not_completed', 'subscription_already_active'],
  }),
  showSandboxPortal: defineRoute({
    ...sandbox,
    operationId: 'showSandboxPortal',
    method: 'GET',
    path: '/sandbox/payments/portal/{session_id}',
    summary: 'Show the hosted portal page',
    request: { params: sessionParams, query: sandboxShapes.sandboxPortalQuerySchema },
    responses: { 200: html('The page.'), ...missingPage },
    errors: ['not_found'],
  }),
  submitSandboxPortal: defineRoute({
    ...sandbox,
    operationId: 'submitSandboxPortal',
    method: 'POST',
    path: '/sandbox/payments/portal/{session_id}/submit',
    summary: 'Submit the portal page',
    request: { params: sessionParams, body: form(sandboxShapes.sandboxPortalFormSchema) },
    responses: { 303: { description: 'Back to the portal or to the return URL.' } },
    errors: ['not_found'],
  }),
  playSandboxSubscription: defineRoute({
    ...sandbox,
    operationId: 'playSandboxSubscription',
    method: 'POST',
    path: '/sandbox/payments/subscriptions/{subscription_id}',
    summary: 'Simulate a later state of a subscription',
    request: {
      params: subscriptionParams,
      body: jsonBody(z.strictObject({ status: subscriptions.subscriptionStatusSchema })),
    },
    responses: {
      200: json('The subscription.', z.object({ id: idSchema('sub'), status: subscriptions.subscriptionStatusSchema })),
    },
    errors: ['not_found'],
  }),
  updateSandboxSubscription: defineRoute({
    ...sandbox,
    operationId: 'updateSandboxSubscription',
    method: 'PATCH',
    path: '/sandbox/payments/subscriptions/{subscription_id}',
    summary: 'Set the outcome of later payments',
    request: { params: subscriptionParams, body: jsonBody(sandboxShapes.sandboxSettingsSchema) },
    responses: { 200: json('The subscription at the provider.', sandboxShapes.sandboxSubscriptionSchema) },
    errors: ['not_found'],
  }),
  advanceSandboxSubscription: defineRoute({
    ...sandbox,
    operationId: 'advanceSandboxSubscription',
    method: 'POST',
    path: '/sandbox/payments/subscriptions/{subscription_id}/advance',
    summary: 'Advance the clock of a subscription',
    description:
      'Runs everything due meanwhile, in order: renewals, failed payments, retries, cancellation. Only periods and ' +
      'status follow this clock; caps and their windows follow the real one.',
    request: { params: subscriptionParams, body: jsonBody(sandboxShapes.sandboxAdvanceSchema) },
    responses: { 200: json('The subscription at the provider.', sandboxShapes.sandboxSubscriptionSchema) },
    errors: ['not_found'],
  }),
} as const;

/** Public routes of the billing service. */
export const billingRoutes = {
  ...subscriptionRoutes,
  ...appUsageRoutes,
  ...receiptRoutes,
  ...walletRoutes,
  ...paymentRoutes,
  ...sandboxRoutes,
} as const;

import { z } from 'zod';
import { JSON_BYTES_MAX } from '../core/limits.ts';
import { defineRoute, json, jsonBody, jwksSchema, listOf, pageOf, pageQuery } from '../core/route.ts';
import { alertSettingsSchema } from './alerts.ts';
import { organizationMoneyRoutes } from './organizations.ts';
import { planSchema } from './plans.ts';
import { receiptSchema } from './receipts.ts';
import * as subscriptions from './subscriptions.ts';
import { invoiceSchema } from './subscriptions.ts';
import {
  extraUsageRequestSchema,
  extraUsageSchema,
  integrationUsageSchema,
  requestIdParams,
  requestUsageSchema,
  usageHistoryQuerySchema,
  usageHistorySchema,
  usageSchema,
} from './usage.ts';
import { walletRoutes } from './wallets.ts';

const detail = { service: 'billing', errorShape: 'detail' } as const;
const console = { ...detail, tag: 'Subscriptions', caller: 'console_session', managementScope: null } as const;
const app = {
  ...detail,
  tag: 'Usage',
  caller: 'oauth_access_token',
  scopes: ['usage:read'],
  crossOrigin: true,
} as const;

/** Routes of subscriptions and plans. */
const subscriptionRoutes = {
  getSubscription: defineRoute({
    ...console,
    operationId: 'getSubscription',
    role: 'viewer',
    method: 'GET',
    path: '/v1/subscriptions',
    summary: 'Get the current subscription',
    description: '`subscription` is null for a user who has never chosen a plan.',
    request: {},
    responses: { 200: json('The subscription.', subscriptions.currentSubscriptionSchema) },
    errors: [],
  }),
  createCheckout: defineRoute({
    ...console,
    operationId: 'createCheckout',
    role: 'billing',
    audit: 'checkout.started',
    method: 'POST',
    path: '/v1/subscriptions/checkout',
    verifiedEmail: true,
    summary: 'Start a purchase',
    description:
      'Returns the address of the payment provider’s page. The purchase counts once `confirmCheckout` or the provider’s event has arrived.',
    request: { body: jsonBody(subscriptions.checkoutRequestSchema) },
    responses: { 200: json('The hosted checkout.', subscriptions.checkoutSessionSchema) },
    errors: ['subscription_already_active', 'payment_provider_unavailable'],
  }),
  confirmCheckout: defineRoute({
    ...console,
    operationId: 'confirmCheckout',
    role: 'billing',
    audit: 'checkout.confirmed',
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
    role: 'billing',
    audit: 'portal.opened',
    method: 'POST',
    path: '/v1/subscriptions/portal',
    summary: 'Open the billing portal',
    description:
      'Returns the address of the payment provider’s page for changing the plan, the payment method or the cancellation.',
    request: { body: jsonBody(subscriptions.portalRequestSchema) },
    responses: { 200: json('The hosted portal.', subscriptions.portalSessionSchema) },
    errors: ['billing_account_missing', 'payment_provider_unavailable'],
  }),
  listInvoices: defineRoute({
    ...console,
    operationId: 'listInvoices',
    role: 'billing',
    method: 'GET',
    path: '/v1/subscriptions/invoices',
    summary: 'List the invoices of subscriptions and top-ups, newest first',
    description: 'Net and tax add up to what was paid.',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The invoices.', pageOf(invoiceSchema)) },
    errors: ['payment_provider_unavailable'],
  }),
  listPlans: defineRoute({
    ...detail,
    tag: 'Subscriptions',
    caller: 'public',
    operationId: 'listPlans',
    method: 'GET',
    path: '/v1/subscriptions/plans',
    summary: 'List the plans',
    description: 'Prices and caps are in micro-units of the currency.',
    request: {},
    responses: { 200: json('The plans.', listOf(planSchema)) },
    errors: [],
  }),
  getSubscriptionUsage: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getSubscriptionUsage',
    role: 'viewer',
    method: 'GET',
    path: '/v1/subscriptions/usage',
    summary: 'Get usage and caps',
    description: 'Returns the use of both windows, with their caps and reset times, and the requests under way.',
    request: {},
    responses: { 200: json('The usage.', usageSchema) },
    errors: [],
  }),
  getUsageHistory: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getUsageHistory',
    role: 'viewer',
    method: 'GET',
    path: '/v1/subscriptions/usage/history',
    summary: 'List the use of the subscription by day',
    description: 'Grouped by service and by app. Metadata only.',
    request: { query: usageHistoryQuerySchema },
    responses: { 200: json('The days, oldest first.', usageHistorySchema) },
    errors: [],
  }),
} as const;

/** Routes of extra use beyond the caps of a plan. */
const extraUsageRoutes = {
  getExtraUsage: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getExtraUsage',
    role: 'billing',
    method: 'GET',
    path: '/v1/subscriptions/extra-usage',
    summary: 'Get the setting of extra use, and its use this month',
    description: 'Off with a ceiling of 0 until it is set.',
    request: {},
    responses: { 200: json('The setting and the use.', extraUsageSchema) },
    errors: [],
  }),
  changeExtraUsage: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'changeExtraUsage',
    role: 'billing',
    audit: 'extra_usage.changed',
    method: 'PUT',
    path: '/v1/subscriptions/extra-usage',
    summary: 'Turn extra use on or off',
    description:
      'Once a cap of the plan is reached, requests of apps go on at the wallet’s cost: up to `monthly_max_micros` in a UTC calendar month, and never above the wallet. Each request holds its highest cost first. Takes effect with the next request.',
    request: { body: jsonBody(extraUsageRequestSchema) },
    responses: { 200: json('The setting and the use.', extraUsageSchema) },
    errors: [],
  }),
} as const;

/** Routes of alerts by mail. */
const alertRoutes = {
  getAlertSettings: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'getAlertSettings',
    role: 'billing',
    method: 'GET',
    path: '/v1/subscriptions/alerts',
    summary: 'Get the thresholds at which alerts are mailed',
    description: 'Returns the percentages of the caps, and the wallet balance, at which the service mails.',
    request: {},
    responses: { 200: json('The settings, or the defaults.', alertSettingsSchema) },
    errors: [],
  }),
  changeAlertSettings: defineRoute({
    ...console,
    tag: 'Usage',
    operationId: 'changeAlertSettings',
    role: 'billing',
    audit: 'alerts.changed',
    method: 'PUT',
    path: '/v1/subscriptions/alerts',
    summary: 'Set the thresholds at which alerts are mailed',
    description:
      'An alert is mailed once per window and threshold: for the weekly and monthly cap, each app budget, the ceiling of extra use, the monthly limit of each API key, and the wallet.',
    request: { body: jsonBody(alertSettingsSchema) },
    responses: { 200: json('The settings.', alertSettingsSchema) },
    errors: [],
  }),
} as const;

/** Usage routes for apps. */
const appUsageRoutes = {
  getIntegrationUsage: defineRoute({
    ...app,
    operationId: 'getIntegrationUsage',
    method: 'GET',
    path: '/v1/integrations/usage',
    summary: "Get shared limits and usage, and the app's own budget",
    description:
      'Shared limits are those of the user’s plan, which other apps use too. `extra` is the use that the wallet pays once a cap is reached. `app` is what this app alone has used, and its budget if the user has set one.',
    request: {},
    responses: { 200: json('The usage.', integrationUsageSchema) },
    errors: [],
  }),
  getRequestUsage: defineRoute({
    ...app,
    operationId: 'getRequestUsage',
    method: 'GET',
    path: '/v1/integrations/usage/requests/{request_id}',
    summary: 'Get the state and cost of a request',
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
    description: 'The receipt names neither provider nor model.',
    request: { params: requestIdParams },
    responses: { 200: json('The receipt.', receiptSchema) },
    errors: ['not_found', 'not_settled'],
  }),
  getReceiptJwks: defineRoute({
    ...detail,
    tag: 'Usage',
    caller: 'public',
    crossOrigin: true,
    operationId: 'getReceiptJwks',
    method: 'GET',
    path: '/v1/receipts/jwks',
    summary: 'Get the public keys of receipts (RFC 7517)',
    description: 'Keys stay published after their rotation, so that old receipts can still be verified.',
    request: {},
    responses: { 200: json('The key set.', jwksSchema) },
    errors: [],
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
    summary: 'Receive signed events from the payment provider',
    description: 'For Stripe alone. The signature is verified over the raw body.',
    request: {
      body: {
        contentType: 'application/json',
        schema: z.unknown(),
        required: true,
        bytesMax: JSON_BYTES_MAX,
        raw: true,
      },
    },
    responses: { 200: json('Accepted.', z.object({ received: z.literal(true) })) },
    errors: ['invalid_signature'],
  }),
} as const;

/** Public routes of the billing service. */
export const billingRoutes = {
  ...subscriptionRoutes,
  ...extraUsageRoutes,
  ...alertRoutes,
  ...appUsageRoutes,
  ...receiptRoutes,
  ...walletRoutes,
  ...organizationMoneyRoutes,
  ...paymentRoutes,
} as const;

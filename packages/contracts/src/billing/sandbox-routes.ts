import { z } from 'zod';
import { errorBodySchema } from '../core/error-body.ts';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { FORM_BYTES_MAX } from '../core/limits.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import * as sandbox from './sandbox-payments.ts';
import { subscriptionStatusSchema } from './subscriptions.ts';

const common = { service: 'billing', errorShape: 'detail', tag: 'Sandbox payments', caller: 'public' } as const;
const html = (description: string) => ({ description, contentType: 'text/html', schema: z.string() }) as const;
const missingPage = {
  404: {
    ...html('A page for browsers; JSON with the code for other clients.'),
    alternatives: { 'application/json': errorBodySchema },
  },
} as const;
const sessionParams = z.object({ session_id: pathIdSchema });
const invoiceParams = z.object({ invoice_id: pathIdSchema });
const subscriptionParams = z.object({ subscription_id: pathIdSchema });
const form = <S extends z.ZodType>(schema: S) =>
  ({ contentType: 'application/x-www-form-urlencoded', schema, required: true, bytesMax: FORM_BYTES_MAX }) as const;

/** Routes of the stand-in for Stripe, a process beside billing. Only trials and tests have it. */
export const sandboxRoutes = {
  showSandboxCheckout: defineRoute({
    ...common,
    operationId: 'showSandboxCheckout',
    method: 'GET',
    path: '/sandbox/payments/sessions/{session_id}',
    summary: 'Show the hosted checkout page',
    description: 'Part of the stand-in for Stripe, for development. Absent where Stripe itself is configured.',
    request: { params: sessionParams, query: sandbox.sandboxCheckoutQuerySchema },
    responses: { 200: html('The page.'), ...missingPage },
    errors: ['not_found'],
  }),
  submitSandboxCheckout: defineRoute({
    ...common,
    operationId: 'submitSandboxCheckout',
    method: 'POST',
    path: '/sandbox/payments/sessions/{session_id}/submit',
    summary: 'Submit the checkout page: pay, answer the bank, apply a promotion code, or go back',
    description: 'A form of the sandbox’s checkout page.',
    request: { params: sessionParams, body: form(sandbox.sandboxCheckoutFormSchema) },
    responses: { 303: { description: 'To the page, or to the success or cancel URL.' } },
    errors: ['not_found'],
  }),
  completeSandboxCheckout: defineRoute({
    ...common,
    operationId: 'completeSandboxCheckout',
    method: 'POST',
    path: '/sandbox/payments/sessions/{session_id}/complete',
    summary: 'Pay without a browser',
    description: 'Does what a person does on the checkout page, for tests and scripts.',
    request: { params: sessionParams },
    responses: { 200: json('Paid.', z.object({ session_id: z.string(), status: z.literal('complete') })) },
    errors: ['not_found', 'checkout_not_completed', 'subscription_already_active'],
  }),
  showSandboxPortal: defineRoute({
    ...common,
    operationId: 'showSandboxPortal',
    method: 'GET',
    path: '/sandbox/payments/portal/{session_id}',
    summary: 'Show the hosted portal page',
    description: 'Part of the stand-in for Stripe, for development. Absent where Stripe itself is configured.',
    request: { params: sessionParams, query: sandbox.sandboxPortalQuerySchema },
    responses: { 200: html('The page.'), ...missingPage },
    errors: ['not_found'],
  }),
  submitSandboxPortal: defineRoute({
    ...common,
    operationId: 'submitSandboxPortal',
    method: 'POST',
    path: '/sandbox/payments/portal/{session_id}/submit',
    summary: 'Submit the portal page',
    description: 'A form of the sandbox’s portal page.',
    request: { params: sessionParams, body: form(sandbox.sandboxPortalFormSchema) },
    responses: { 303: { description: 'Back to the portal or to the return URL.' } },
    errors: ['not_found'],
  }),
  showSandboxInvoice: defineRoute({
    ...common,
    operationId: 'showSandboxInvoice',
    method: 'GET',
    path: '/sandbox/payments/invoices/{invoice_id}',
    summary: 'Show an invoice',
    description: 'An invoice of the payment sandbox.',
    request: { params: invoiceParams, query: sandbox.sandboxPageQuerySchema },
    responses: { 200: html('The page.'), ...missingPage },
    errors: ['not_found'],
  }),
  getSandboxInvoicePdf: defineRoute({
    ...common,
    operationId: 'getSandboxInvoicePdf',
    method: 'GET',
    path: '/sandbox/payments/invoices/{invoice_id}/pdf',
    summary: 'Get an invoice as PDF, in Italian or English',
    description: 'An invoice of the payment sandbox.',
    request: { params: invoiceParams, query: sandbox.sandboxPageQuerySchema },
    responses: { 200: { description: 'The PDF.', contentType: 'application/pdf', schema: z.string() } },
    errors: ['not_found'],
  }),
  playSandboxSubscription: defineRoute({
    ...common,
    operationId: 'playSandboxSubscription',
    method: 'POST',
    path: '/sandbox/payments/subscriptions/{subscription_id}',
    summary: 'Simulate a later state of a subscription',
    description: 'Sets the status that the simulated provider reports, for tests.',
    request: {
      params: subscriptionParams,
      body: jsonBody(z.strictObject({ status: subscriptionStatusSchema })),
    },
    responses: {
      200: json('The subscription.', z.object({ id: idSchema('sub'), status: subscriptionStatusSchema })),
    },
    errors: ['not_found'],
  }),
  updateSandboxSubscription: defineRoute({
    ...common,
    operationId: 'updateSandboxSubscription',
    method: 'PATCH',
    path: '/sandbox/payments/subscriptions/{subscription_id}',
    summary: 'Set the outcome of later payments',
    description: 'Lets later renewals and automatic charges succeed or fail, for tests.',
    request: { params: subscriptionParams, body: jsonBody(sandbox.sandboxSettingsSchema) },
    responses: { 200: json('The subscription at the provider.', sandbox.sandboxSubscriptionSchema) },
    errors: ['not_found'],
  }),
  advanceSandboxSubscription: defineRoute({
    ...common,
    operationId: 'advanceSandboxSubscription',
    method: 'POST',
    path: '/sandbox/payments/subscriptions/{subscription_id}/advance',
    summary: 'Advance the clock of a subscription',
    description:
      'Runs everything that falls due, in order: renewals, failed payments, retries, cancellation. Only periods and ' +
      'status follow this clock; caps and their windows follow the real one.',
    request: { params: subscriptionParams, body: jsonBody(sandbox.sandboxAdvanceSchema) },
    responses: { 200: json('The subscription at the provider.', sandbox.sandboxSubscriptionSchema) },
    errors: ['not_found'],
  }),
} as const;

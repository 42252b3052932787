import { z } from 'zod';
import { errorBodySchema } from '../core/error-body.ts';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { FORM_BYTES_MAX } from '../core/limits.ts';
import { defineRoute, json, jsonBody } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { subscriptionStatusSchema } from './subscriptions.ts';

/**
 * Cards of the sandbox. `succeeds`: every payment succeeds. `asks_to_confirm`: a payment succeeds once the cardholder
 * confirms it; a renewal fails. `declines_renewals`: only the first payment succeeds. `declines`: none does.
 */
export const sandboxCardSchema = z.enum(['succeeds', 'asks_to_confirm', 'declines_renewals', 'declines']);

export type SandboxCard = z.infer<typeof sandboxCardSchema>;

/** Notice on the portal page after an action. */
export const portalNoticeSchema = z.enum([
  'canceled',
  'resumed',
  'plan_changed',
  'card_saved',
  'paid',
  'declined',
  'not_confirmed',
]);

export type PortalNotice = z.infer<typeof portalNoticeSchema>;

const language = { locale: z.enum(['it', 'en']).optional() };

/** Query of the hosted pages. `locale` overrides the browser's language. */
export const sandboxPageQuerySchema = z.object(language);

/** Notice on the checkout page after an action. */
export const checkoutNoticeSchema = z.enum(['unknown_code']);

export type CheckoutNotice = z.infer<typeof checkoutNoticeSchema>;

/** Query of the checkout page. */
export const sandboxCheckoutQuerySchema = z.object({ ...language, notice: checkoutNoticeSchema.optional() });

/** Query of the portal. */
export const sandboxPortalQuerySchema = z.object({ ...language, notice: portalNoticeSchema.optional() });

/** VAT number with its country, without blanks and dots; null for an empty field. */
const vatNumberSchema = z
  .string()
  .transform((text) => text.replaceAll(/[\s.]/g, '').toUpperCase() || null)
  .pipe(
    z
      .string()
      .regex(/^[A-Z]{2}[A-Z0-9]{2,13}$/)
      .nullable(),
  );

/**
 * Form of the checkout page. `confirm` and `fail` answer the bank's confirmation step. `apply_code` takes the promotion
 * code, which only plans accept.
 */
export const sandboxCheckoutFormSchema = z.object({
  action: z.enum(['pay', 'confirm', 'fail', 'cancel', 'apply_code', 'remove_code']),
  promotion_code: z.string().max(64).default(''),
  card: sandboxCardSchema.default('succeeds'),
  /** Business details for invoices. Empty fields remove them. */
  business_name: z
    .string()
    .max(120)
    .transform((name) => name.trim() || null)
    .optional(),
  vat_number: vatNumberSchema.optional(),
  ...language,
});

/** Form of the portal page. `pay` pays an overdue invoice. */
export const sandboxPortalFormSchema = z.object({
  action: z.enum(['cancel', 'resume', 'change_plan', 'change_card', 'pay', 'confirm', 'fail', 'return']),
  plan_id: z.string().max(128).optional(),
  card: sandboxCardSchema.optional(),
  ...language,
});

/** Outcome of later payments, and state of the subscription after the last failed attempt. */
export const sandboxSettingsSchema = z.strictObject({
  card: sandboxCardSchema.optional(),
  when_unpaid: z.enum(['canceled', 'unpaid']).optional(),
});

const SECONDS_PER_YEAR = 366 * 86_400;

/** Time by which to advance a subscription's clock. */
export const sandboxAdvanceSchema = z.strictObject({ seconds: z.int().min(1).max(SECONDS_PER_YEAR) });

/** A subscription as the sandbox payment provider sees it, on its own clock. */
export const sandboxSubscriptionSchema = z
  .object({
    id: idSchema('sub'),
    status: subscriptionStatusSchema,
    clock: timestampSchema,
    current_period_start: timestampSchema,
    current_period_end: timestampSchema,
    cancel_at_period_end: z.boolean(),
    card: sandboxCardSchema,
    when_unpaid: z.enum(['canceled', 'unpaid']),
    failed_attempts: z.int().min(0),
    next_attempt_at: timestampSchema.nullable(),
  })
  .meta({ id: 'SandboxSubscription' });

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
    request: { params: sessionParams, query: sandboxCheckoutQuerySchema },
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
    request: { params: sessionParams, body: form(sandboxCheckoutFormSchema) },
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
    request: { params: sessionParams, query: sandboxPortalQuerySchema },
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
    request: { params: sessionParams, body: form(sandboxPortalFormSchema) },
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
    request: { params: invoiceParams, query: sandboxPageQuerySchema },
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
    request: { params: invoiceParams, query: sandboxPageQuerySchema },
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
    request: { params: subscriptionParams, body: jsonBody(sandboxSettingsSchema) },
    responses: { 200: json('The subscription at the provider.', sandboxSubscriptionSchema) },
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
    request: { params: subscriptionParams, body: jsonBody(sandboxAdvanceSchema) },
    responses: { 200: json('The subscription at the provider.', sandboxSubscriptionSchema) },
    errors: ['not_found'],
  }),
} as const;

/** Address and keys of the stand-in for Stripe. They open nothing: an event is a hint, after which billing asks Stripe. */
export const STRIPE_SANDBOX = {
  apiBase: 'http://127.0.0.1:9300',
  secretKey: 'sk_test_sandbox',
  webhookSecret: 'whsec_sandbox',
} as const;

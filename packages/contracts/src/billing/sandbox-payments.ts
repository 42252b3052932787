import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
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

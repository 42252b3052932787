import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { currencySchema, microsSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { returnUrlSchema } from '../core/url.ts';
import { planReferenceSchema, planServicesSchema } from './plans.ts';
import { walletSchema } from './wallets.ts';

/** States of a subscription, as the payment provider names them. */
export const subscriptionStatusSchema = z.enum([
  'incomplete',
  'incomplete_expired',
  'trialing',
  'active',
  'past_due',
  'canceled',
  'unpaid',
  'paused',
]);

export type SubscriptionStatus = z.infer<typeof subscriptionStatusSchema>;

/** States that end a subscription and emit `subscription.ended`. */
export const endedStatusSchema = z.enum(['canceled', 'unpaid', 'incomplete_expired']);

export const subscriptionSchema = z
  .object({
    id: idSchema('sub'),
    status: subscriptionStatusSchema,
    plan: planReferenceSchema,
    current_period_start: timestampSchema,
    current_period_end: timestampSchema,
    cancel_at_period_end: z.boolean(),
    revision: z.int().min(1),
    paid_by: z
      .object({ organization_id: idSchema('usr'), name: z.string().nullable() })
      .nullable()
      .meta({ description: 'The organization whose seat this is; null for a plan of one’s own.' }),
  })
  .meta({ id: 'Subscription' });

export type Subscription = z.infer<typeof subscriptionSchema>;

/** The account's subscription; null if it never had one. */
export const currentSubscriptionSchema = z
  .object({ subscription: subscriptionSchema.nullable() })
  .meta({ id: 'CurrentSubscription' });

export const checkoutRequestSchema = z
  .strictObject({
    plan_id: z.string().min(1).max(128),
    success_url: returnUrlSchema,
    cancel_url: returnUrlSchema,
  })
  .meta({ id: 'CheckoutRequest' });

export const checkoutSessionSchema = z
  .object({ session_id: z.string(), url: z.string(), expires_at: timestampSchema })
  .meta({ id: 'CheckoutSession' });

/** Confirmation of a purchase after the hosted checkout. */
export const checkoutConfirmationSchema = z
  .strictObject({ session_id: z.string().min(1).max(255) })
  .meta({ id: 'CheckoutConfirmation' });

/** Result of a confirmed session: a subscription or a wallet top-up. */
export const checkoutConfirmedSchema = z
  .object({
    subscription: subscriptionSchema.nullable(),
    wallet: walletSchema.optional(),
  })
  .meta({ id: 'CheckoutConfirmed' });

export const portalRequestSchema = z.strictObject({ return_url: returnUrlSchema }).meta({ id: 'PortalRequest' });

export const portalSessionSchema = z.object({ url: z.string() }).meta({ id: 'PortalSession' });

/** Use of the paid period as apps see it: without amounts or models. */
export const budgetSchema = z.object({
  weekly_used_percent: z.int().min(0).max(100),
  monthly_used_percent: z.int().min(0).max(100),
  services: planServicesSchema,
});

/** A subscription as apps see it. */
export const subscriptionSnapshotSchema = z
  .object({
    status: subscriptionStatusSchema,
    plan: planReferenceSchema,
    period: z.object({ start: timestampSchema, end: timestampSchema }),
    cancel_at_period_end: z.boolean(),
    budget: budgetSchema,
    revision: z.int().min(1),
  })
  .meta({ id: 'SubscriptionSnapshot' });

export type SubscriptionSnapshot = z.infer<typeof subscriptionSnapshotSchema>;

/** A change of a subscription that its owner is mailed. */
export const planNoticeSchema = z.object({
  svc_user_id: idSchema('usr'),
  kind: z.enum(['purchased', 'payment_failed', 'cancelled', 'ended']),
  plan: planReferenceSchema,
  at: timestampSchema.meta({
    description:
      'Next charge after a purchase; for `payment_failed`, until when apps keep working; end of the plan otherwise.',
  }),
  is_unpaid: z.boolean().meta({ description: 'True if it ended because a payment is missing.' }),
});

export type PlanNotice = z.infer<typeof planNoticeSchema>;

/** An invoice of the payment provider. Net and tax add up to the total, which is what was paid. */
export const invoiceSchema = z
  .object({
    id: z.string(),
    number: z.string(),
    description: z.string(),
    net_micros: microsSchema,
    tax_micros: microsSchema,
    total_micros: microsSchema,
    currency: currencySchema,
    status: z.enum(['open', 'paid', 'uncollectible', 'void']),
    issued_at: timestampSchema,
    url: z.string().nullable().meta({ description: 'Page of the invoice.' }),
    pdf_url: z.string().nullable(),
  })
  .meta({ id: 'Invoice' });

export type Invoice = z.infer<typeof invoiceSchema>;

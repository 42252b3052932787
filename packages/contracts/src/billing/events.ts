import { z } from 'zod';
import { defineEvent } from '../core/event.ts';
import { idSchema } from '../core/ids.ts';
import { currencySchema, microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import { alertSchema } from './alerts.ts';
import { endedStatusSchema, planNoticeSchema, subscriptionSnapshotSchema } from './subscriptions.ts';
import { autoTopUpFailureSchema, topUpSourceSchema } from './wallets.ts';

/** Returns the aggregate of facts about an account's subscription, whose versions are its revisions. */
export const subscriptionAggregate = (userId: string): string => `subscription:${userId}`;

/** Facts published by the billing service. */
export const billingEvents = {
  subscriptionChanged: defineEvent({
    subject: 'billing.subscription.changed.v1',
    service: 'billing',
    consumers: ['webhook-dispatcher_subscriptions'],
    description: 'A field that receivers see has changed. Aggregate: `subscription:<svc_user_id>`, version = revision.',
    schema: subscriptionSnapshotSchema.extend({ svc_user_id: idSchema('usr') }),
  }),
  subscriptionEnded: defineEvent({
    subject: 'billing.subscription.ended.v1',
    service: 'billing',
    consumers: ['webhook-dispatcher_subscriptions'],
    description: 'A subscription has ended for good. Aggregate: `subscription:<svc_user_id>`, version = revision.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      status: endedStatusSchema,
      ended_at: timestampSchema,
      revision: z.int().min(1),
      current_period_end: timestampSchema,
    }),
  }),
  walletCredited: defineEvent({
    subject: 'billing.wallet.credited.v1',
    service: 'billing',
    consumers: ['webhook-dispatcher_wallet-events'],
    description: 'A top-up was paid. Aggregate: `wallet:<svc_user_id>`.',
    schema: z.object({
      svc_user_id: idSchema('usr'),
      amount_micros: nonNegativeMicrosSchema,
      balance_micros: microsSchema.meta({ description: 'Balance of the wallet after the top-up.' }),
      currency: currencySchema,
      source: topUpSourceSchema,
    }),
  }),
  autoTopUpFailed: defineEvent({
    subject: 'billing.auto_top_up.failed.v1',
    service: 'billing',
    consumers: ['auth_billing-notices', 'webhook-dispatcher_wallet-events'],
    description:
      'An automatic charge failed, and automatic top-ups of the account are now off. Aggregate: `auto_top_up:<checkout session>`.',
    schema: autoTopUpFailureSchema,
  }),
  planNoticeRaised: defineEvent({
    subject: 'billing.plan_notice.raised.v1',
    service: 'billing',
    consumers: ['auth_billing-notices'],
    description:
      'A plan was bought, not paid, cancelled, or has ended. Each fact has its own aggregate: `plan_notice:<subscription>:<revision>`.',
    schema: planNoticeSchema,
  }),
  alertRaised: defineEvent({
    subject: 'billing.alert.raised.v1',
    service: 'billing',
    consumers: ['auth_billing-notices', 'webhook-dispatcher_wallet-events'],
    description:
      'Use has crossed a threshold that its owner chose, or the wallet has fallen below an amount. Once per window and threshold; each fact has its own aggregate. Amounts are in the currency of the deployment.',
    schema: alertSchema,
  }),
} as const;

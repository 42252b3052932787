import { z } from 'zod';
import { planReferenceSchema } from '../billing/plans.ts';
import { subscriptionStatusSchema } from '../billing/subscriptions.ts';
import { autoTopUpFailureSchema, topUpSourceSchema } from '../billing/wallets.ts';
import { idSchema } from '../core/ids.ts';
import { pageOf } from '../core/lists.ts';
import { currencySchema, microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampSchema } from '../core/time.ts';
import {
  envelopeMembers,
  eventDetailMembers,
  eventListMembers,
  eventListQueryOf,
  eventRecordOf,
} from './webhook-events.ts';

const envelope = <const Name extends string, Data extends z.ZodObject>(name: Name, data: Data) => {
  const { api_version, event_id, event, ...members } = envelopeMembers(name);
  return z.object({ api_version, event_id, event, account_id: idSchema('usr'), ...members, data });
};

/** Envelopes that an account's receiver can get, by their `event`. */
export const accountEventSchema = z.discriminatedUnion('event', [
  envelope(
    'wallet.low',
    z.object({ balance_micros: microsSchema, below_micros: nonNegativeMicrosSchema, currency: currencySchema }),
  ),
  envelope(
    'wallet.topped_up',
    z.object({
      amount_micros: nonNegativeMicrosSchema,
      balance_micros: microsSchema,
      currency: currencySchema,
      source: topUpSourceSchema,
    }),
  ),
  envelope('wallet.top_up_failed', autoTopUpFailureSchema.omit({ svc_user_id: true })),
  envelope('api_key.created', z.object({ key_id: idSchema('key'), name: z.string(), prefix: z.string() })),
  envelope(
    'api_key.limit_reached',
    z.object({
      key_id: idSchema('key'),
      name: z.string(),
      spent_micros: nonNegativeMicrosSchema,
      limit_micros: nonNegativeMicrosSchema,
      resets_at: timestampSchema,
    }),
  ),
  envelope(
    'subscription.changed',
    z.object({
      status: subscriptionStatusSchema,
      plan: planReferenceSchema.nullable(),
      current_period_end: timestampSchema,
      revision: z.int().min(1),
    }),
  ),
  envelope('account.test', z.object({})),
]);

export type AccountEvent = z.infer<typeof accountEventSchema>;

export const accountEventNames = accountEventSchema.options.map(({ shape }) => shape.event.value);

/** A stored event as its account sees it. */
export const accountEventRecordSchema = eventRecordOf(accountEventNames).meta({ id: 'AccountEventRecord' });

/** A page of the account's event list. */
export const accountEventListSchema = pageOf(accountEventRecordSchema).extend(eventListMembers);

/** A stored event with its body and every attempt. */
export const accountEventDetailSchema = accountEventRecordSchema
  .extend(eventDetailMembers)
  .meta({ id: 'AccountEventDetail' });

/** Query of the account's event list. */
export const listAccountEventsQuerySchema = eventListQueryOf(accountEventNames);

import { z } from 'zod';
import { currencySchema, MICROS_PER_UNIT, microsSchema } from '../core/money.ts';
import { returnUrlSchema } from '../core/url.ts';

/** The prepaid wallet of the API-key gateway. */
export const walletSchema = z
  .object({
    balance_micros: microsSchema,
    held_micros: microsSchema,
    currency: currencySchema,
  })
  .meta({ id: 'Wallet' });

/** A purchase of wallet balance: at most 10,000 units of the currency. A provider that takes real money may want whole cents, and more. */
export const topUpRequestSchema = z
  .strictObject({
    amount_micros: z
      .int()
      .min(1)
      .max(10_000 * MICROS_PER_UNIT),
    success_url: returnUrlSchema,
    cancel_url: returnUrlSchema,
  })
  .meta({ id: 'TopUpRequest' });

/** A refund of a top-up, or of a part of it. */
export const refundRequestSchema = z.strictObject({
  refund_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/)
    .meta({ description: "The caller's own: asking again with it refunds nothing more." }),
  session_id: z.string().min(1).max(255).meta({ description: 'The checkout session of the top-up.' }),
  amount_micros: z
    .int()
    .min(1)
    .refine((amount) => amount % 10_000 === 0, { message: 'must be a whole number of cents' }),
});

/** How far a refund has come. `pending`: taken from the wallet, and told to the payment provider until it answers. */
export const refundSchema = z.object({
  refund_id: z.string(),
  state: z.enum(['pending', 'refunded', 'refused']),
  amount_micros: microsSchema,
  currency: currencySchema,
});

/** How far a refund has come. */
export type Refund = z.infer<typeof refundSchema>;

/** A hosted checkout of a top-up. */
export const topUpSessionSchema = z.object({ session_id: z.string(), url: z.string() }).meta({ id: 'TopUpSession' });

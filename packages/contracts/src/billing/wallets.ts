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

/** A purchase of wallet balance: whole cents, from 1 to 10,000 units of the currency. */
export const topUpRequestSchema = z
  .strictObject({
    amount_micros: z
      .int()
      .min(MICROS_PER_UNIT)
      .max(10_000 * MICROS_PER_UNIT)
      .refine((amount) => amount % 10_000 === 0, { message: 'must be a whole number of cents' }),
    success_url: returnUrlSchema,
    cancel_url: returnUrlSchema,
  })
  .meta({ id: 'TopUpRequest' });

/** A hosted checkout of a top-up. */
export const topUpSessionSchema = z.object({ session_id: z.string(), url: z.string() }).meta({ id: 'TopUpSession' });

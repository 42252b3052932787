import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { currencySchema, MICROS_PER_UNIT, microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { defineRoute, json, jsonBody, pageOf, pageQuery } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';
import { returnUrlSchema } from '../core/url.ts';

/** Prepaid wallet for the API-key gateway. */
export const walletSchema = z
  .object({
    balance_micros: microsSchema,
    held_micros: microsSchema,
    currency: currencySchema,
  })
  .meta({ id: 'Wallet' });

/** Available balance of a wallet, as shown to API keys. */
export const keyWalletSchema = z.object({ available_micros: microsSchema, currency: currencySchema });

/**
 * Purchase of wallet balance, at most 10,000 units of the currency. A real payment provider may require whole cents and
 * a minimum.
 */
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

const AUTO_TOP_UP_MICROS_MAX = 10_000 * MICROS_PER_UNIT;

/** Automatic top-ups of the wallet from the saved payment method. */
export const autoTopUpSchema = z
  .strictObject({
    enabled: z.boolean(),
    below_micros: z
      .int()
      .min(0)
      .max(AUTO_TOP_UP_MICROS_MAX)
      .meta({ description: 'The wallet is topped up when less than this is available.' }),
    amount_micros: z.int().min(1).max(AUTO_TOP_UP_MICROS_MAX),
    monthly_max_micros: nonNegativeMicrosSchema.meta({
      description: 'Ceiling of automatic charges in a calendar month (UTC).',
    }),
  })
  .meta({ id: 'AutoTopUp' });

export type AutoTopUp = z.infer<typeof autoTopUpSchema>;

/** Payment of a top-up: at a checkout, or off session. */
export const topUpSourceSchema = z.enum(['checkout', 'automatic']);

/** A failed automatic charge, which has turned automatic top-ups off. */
export const autoTopUpFailureSchema = z.object({
  svc_user_id: idSchema('usr'),
  amount_micros: nonNegativeMicrosSchema,
  currency: currencySchema,
  reason: z.enum(['payment_method_missing', 'declined', 'authentication_required']),
});

export type AutoTopUpFailure = z.infer<typeof autoTopUpFailureSchema>;

/** Refund of a top-up, in full or in part. */
export const refundRequestSchema = z.strictObject({
  refund_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/)
    .meta({ description: 'Idempotency key chosen by the caller.' }),
  session_id: z.string().min(1).max(255).meta({ description: 'The checkout session of the top-up.' }),
  amount_micros: z
    .int()
    .min(1)
    .refine((amount) => amount % 10_000 === 0, { message: 'must be a whole number of cents' }),
});

/** State of a refund. `pending`: debited from the wallet, and retried until the payment provider answers. */
export const refundSchema = z.object({
  refund_id: z.string(),
  state: z.enum(['pending', 'refunded', 'refused']),
  amount_micros: microsSchema,
  currency: currencySchema,
});

export type Refund = z.infer<typeof refundSchema>;

export const topUpSessionSchema = z.object({ session_id: z.string(), url: z.string() }).meta({ id: 'TopUpSession' });

/** A change of a wallet's balance. */
export const walletTransactionSchema = z
  .object({
    id: z.string(),
    type: z.enum(['top_up', 'usage', 'refund', 'write_off', 'adjustment']),
    amount_micros: microsSchema.meta({ description: 'Negative for a debit.' }),
    balance_after_micros: microsSchema,
    extra_use_micros: nonNegativeMicrosSchema.optional().meta({
      description:
        'On `usage`: the part of it that paid for apps beyond the caps of the plan; absent if there is none.',
    }),
    created_at: timestampSchema,
    description: z.string(),
  })
  .meta({ id: 'WalletTransaction' });

export type WalletTransaction = z.infer<typeof walletTransactionSchema>;

const wallets = { service: 'billing', errorShape: 'detail', tag: 'Wallet', caller: 'console_session' } as const;

/** Routes of the API-key gateway's prepaid wallet. */
export const walletRoutes = {
  getWallet: defineRoute({
    ...wallets,
    operationId: 'getWallet',
    role: 'viewer',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet',
    summary: 'Get the wallet balance',
    description: '`held_micros` is held for requests under way.',
    request: {},
    responses: { 200: json('The wallet.', walletSchema) },
    errors: [],
  }),
  listWalletTransactions: defineRoute({
    ...wallets,
    operationId: 'listWalletTransactions',
    role: 'viewer',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet/transactions',
    summary: 'List the transactions of the wallet, newest first',
    description: 'Usage is summed up per UTC day.',
    request: { query: z.object(pageQuery) },
    responses: { 200: json('The transactions.', pageOf(walletTransactionSchema)) },
    errors: [],
  }),
  createTopUp: defineRoute({
    ...wallets,
    operationId: 'createTopUp',
    role: 'billing',
    audit: 'top_up.started',
    managementScope: null,
    method: 'POST',
    path: '/v1/gateway/wallet/top-ups',
    verifiedEmail: true,
    summary: 'Buy wallet balance',
    description: 'Returns the address of the payment provider’s page. The balance grows once the payment is confirmed.',
    request: { body: jsonBody(topUpRequestSchema) },
    responses: { 200: json('The hosted checkout.', topUpSessionSchema) },
    errors: ['payment_provider_unavailable'],
  }),
  getAutoTopUp: defineRoute({
    ...wallets,
    operationId: 'getAutoTopUp',
    role: 'billing',
    managementScope: 'wallet:read',
    method: 'GET',
    path: '/v1/gateway/wallet/auto-top-up',
    summary: 'Get the settings of automatic top-ups',
    description: 'Returns the settings, also while automatic top-ups are off.',
    request: {},
    responses: { 200: json('The settings, or the defaults.', autoTopUpSchema) },
    errors: [],
  }),
  changeAutoTopUp: defineRoute({
    ...wallets,
    operationId: 'changeAutoTopUp',
    role: 'billing',
    audit: 'auto_top_up.changed',
    managementScope: null,
    method: 'PUT',
    path: '/v1/gateway/wallet/auto-top-up',
    summary: 'Turn automatic top-ups on or off',
    description:
      'Charges the saved payment method when the available balance is below `below_micros`, one charge at a time, and never more than `monthly_max_micros` in a UTC month. A failed charge turns this off and mails the owner. A purchase in the hosted checkout saves its payment method. Turning it on requires a recent authentication.',
    request: { body: jsonBody(autoTopUpSchema) },
    responses: { 200: json('The settings.', autoTopUpSchema) },
    errors: ['reauthentication_required', 'payment_method_missing', 'payment_provider_unavailable'],
  }),
} as const;

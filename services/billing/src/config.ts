import { commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

const JWKS_PATH = '/v1/integrations/oauth/jwks';

/** Environment of the billing service. */
export const configSchema = z
  .object({
    ...commonSettings,
    DATABASE_POOL_MAX: setting.integer({
      description: 'Connections to the database that one process keeps at most.',
      min: 2,
      max: 200,
      default: 20,
    }),
    AUTH_INTERNAL_URL: setting.url({ description: "Auth's internal listener, from which the signing keys are read." }),
    JWKS_URL: setting.url({
      description: 'Overrides the address of the signing keys, for example with a public one.',
      optional: true,
    }),
    PLANS_FILE: setting.string({ description: 'YAML file with the plans on offer, validated at start.' }),
    BILLING_CURRENCY: setting.string({
      description: 'Currency of this deployment, used by all plans, wallets and ledger postings.',
      pattern: /^[A-Z]{3}$/,
      expected: 'an ISO 4217 code in upper case',
      default: 'EUR',
    }),
    RECEIPT_KEY_SECRET: setting.string({
      description:
        'Secret from which the receipt keys are derived, a new key every 90 days. Must be the same on all replicas. Changing it makes issued receipts unverifiable.',
      pattern: /^[A-Za-z0-9+/]{43}=$/,
      expected: '32 random bytes in base64',
      secret: true,
    }),
    NODE_ENV: setting.string({
      description: 'With `production`, PAYMENTS must be set.',
      optional: true,
    }),
    PAYMENTS: setting.choice({
      description:
        'Payment provider. Default: `sandbox`, which hosts its own checkout and portal pages and takes no money.',
      values: ['sandbox', 'stripe'],
      optional: true,
    }),
    STRIPE_SECRET_KEY: setting.string({
      description: 'Secret key of the Stripe account.',
      secret: true,
      optional: true,
    }),
    STRIPE_WEBHOOK_SECRET: setting.list({
      description:
        'Signing secrets of the Stripe event endpoint. All of them are accepted, so that they can be rotated.',
      secret: true,
      optional: true,
    }),
    STRIPE_API_BASE: setting.url({ description: 'Address of the Stripe API.', default: 'https://api.stripe.com' }),
    PAST_DUE_GRACE_DAYS: setting.integer({
      description: 'Days for which a past-due subscription still admits requests.',
      min: 0,
      max: 90,
      default: 7,
    }),
    RESERVATION_UNCERTAIN_AFTER_SECONDS: setting.integer({
      description:
        'Seconds after which a reservation without an outcome and without a holder becomes uncertain. Only gateways of the ' +
        'previous release omit the holder. Other reservations become uncertain when their holder dies.',
      min: 1,
      max: 86_400,
      default: 120,
    }),
    UNCERTAIN_SETTLE_AFTER_HOURS: setting.integer({
      description:
        'Hours after which an uncertain reservation is settled at its estimate, with an alert. Should exceed the longest ' +
        'outage during which a gateway buffers usage. Usage that arrives later still corrects the estimate.',
      min: 1,
      max: 720,
      default: 24,
    }),
    SWEEP_INTERVAL_MS: setting.integer({
      description: 'Milliseconds between sweeps of reservations and between renewals of sandbox subscriptions.',
      min: 50,
      max: 600_000,
      default: 2_000,
    }),
  })
  .superRefine((config, context) => {
    if (config.NODE_ENV === 'production' && config.PAYMENTS === undefined) {
      context.addIssue({ code: 'custom', path: ['PAYMENTS'], message: 'must be set in production: stripe or sandbox' });
    }
    if (config.PAYMENTS !== 'stripe') return;
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const) {
      if (config[name] !== undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must be set with PAYMENTS=stripe' });
    }
  });

export type Config = z.infer<typeof configSchema>;

/** Returns the URL of the signing keys. */
export const jwksUrlOf = (config: Config): string => config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${JWKS_PATH}`;

/** Returns the rules that the configured plans must satisfy. */
export const planRulesOf = (config: Config) => ({
  currency: config.BILLING_CURRENCY,
  needsStripePrice: config.PAYMENTS === 'stripe',
});

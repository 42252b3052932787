import { commonSettings, setting } from '@svc/service-kit';
import { z } from 'zod';

const JWKS_PATH = '/v1/integrations/oauth/jwks';

/** The environment of the billing service. */
export const configSchema = z
  .object({
    ...commonSettings,
    DATABASE_POOL_MAX: setting.integer({
      description: 'Connections to the database that one process keeps at most.',
      min: 2,
      max: 200,
      default: 20,
    }),
    AUTH_INTERNAL_URL: setting.url({ description: "Auth's internal listener, where the signing keys are read." }),
    JWKS_URL: setting.url({
      description: 'Where the signing keys are read instead, such as a public address.',
      optional: true,
    }),
    PLANS_FILE: setting.string({ description: 'YAML file of the plans on offer, checked at start.' }),
    BILLING_CURRENCY: setting.string({
      description: 'The one currency of this deployment: of all plans, wallets and ledger postings.',
      pattern: /^[A-Z]{3}$/,
      expected: 'an ISO 4217 code in upper case',
      default: 'EUR',
    }),
    RECEIPT_KEY_SECRET: setting.string({
      description:
        'Makes the keys that sign receipts, a new one every 90 days. The same for all replicas; another one makes issued receipts unverifiable.',
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
        'Payment provider; `sandbox` unless set. The sandbox has its own checkout and portal pages and takes no money.',
      values: ['sandbox', 'stripe'],
      optional: true,
    }),
    STRIPE_SECRET_KEY: setting.string({
      description: 'Secret key of the Stripe account.',
      secret: true,
      optional: true,
    }),
    STRIPE_WEBHOOK_SECRET: setting.list({
      description: 'Signing secrets of the Stripe event endpoint; each is accepted, so that they can be rotated.',
      secret: true,
      optional: true,
    }),
    STRIPE_API_BASE: setting.url({ description: 'Address of the Stripe API.', default: 'https://api.stripe.com' }),
    PAST_DUE_GRACE_DAYS: setting.integer({
      description: 'Days for which a subscription whose payment failed still admits requests.',
      min: 0,
      max: 90,
      default: 7,
    }),
    RESERVATION_UNCERTAIN_AFTER_SECONDS: setting.integer({
      description:
        'Seconds after which a reservation without an outcome becomes uncertain if it names no holder, as those of the release ' +
        'before; others become uncertain when their holder dies. True usage settles them whenever it comes.',
      min: 1,
      max: 86_400,
      default: 120,
    }),
    UNCERTAIN_SETTLE_AFTER_HOURS: setting.integer({
      description:
        'Hours after which an uncertain reservation is settled at its estimate, with an alert. Longer than any outage over ' +
        'which a gateway keeps usage that it could not tell; usage that comes even later corrects the estimate.',
      min: 1,
      max: 720,
      default: 24,
    }),
    SWEEP_INTERVAL_MS: setting.integer({
      description: 'Milliseconds between looks for reservations to sweep and for sandbox subscriptions to renew.',
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

/** The configuration of the billing service. */
export type Config = z.infer<typeof configSchema>;

/** Where the signing keys are read from. */
export const jwksUrlOf = (config: Config): string => config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${JWKS_PATH}`;

/** What the configured plans must fit. */
export const planRulesOf = (config: Config) => ({
  currency: config.BILLING_CURRENCY,
  needsStripePrice: config.PAYMENTS === 'stripe',
});

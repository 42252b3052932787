import { PAYABLE_CURRENCY, STRIPE_SANDBOX } from '@svc/contracts';
import { secretKeysSetting } from '@svc/secrets';
import { commonSettings, setting, whenValid } from '@svc/service-kit';
import { z } from 'zod';
import type { StripeSettings } from './payments/index.ts';

const JWKS_PATH = '/v1/integrations/oauth/jwks';
const STRIPE_CREDENTIALS = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const;

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
    AUTH_INTERNAL_URL: setting.url({
      description: "Auth's internal listener: the signing keys, and revocations while NATS is silent.",
    }),
    JWKS_URL: setting.url({
      description: 'Overrides the address of the signing keys, for example with a public one.',
      optional: true,
    }),
    PLANS_FILE: setting.string({ description: 'YAML file with the plans on offer, validated at start.' }),
    BILLING_CURRENCY: setting.string({
      description: 'Currency of this deployment, used by all plans, wallets and ledger postings.',
      pattern: PAYABLE_CURRENCY,
      expected: 'the ISO 4217 code of a currency that Stripe charges, in upper case',
      default: 'EUR',
    }),
    RECEIPT_KEY_SECRET: secretKeysSetting({
      description: 'Receipt keys are derived from it, a new key every 90 days. The same for all replicas.',
    }),
    NODE_ENV: setting.string({
      description: 'With `production`, PAYMENTS must be set, and `sandbox` needs PAYMENTS_SANDBOX_IN_PRODUCTION.',
      optional: true,
    }),
    PAYMENTS: setting.choice({
      description:
        'Stripe, or with `sandbox` a stand-in for it, which takes no money. The two differ in address and keys only. ' +
        'Default: `sandbox`.',
      values: ['sandbox', 'stripe'],
      optional: true,
    }),
    PAYMENTS_SANDBOX_IN_PRODUCTION: setting.choice({
      description: '`1` allows `PAYMENTS=sandbox` in production, where everything is free of charge then.',
      values: ['1'],
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
      itemsMin: 1,
      secret: true,
      optional: true,
    }),
    STRIPE_API_BASE: setting.url({ description: 'Address of the Stripe API.', default: 'https://api.stripe.com' }),
    SANDBOX_PAYMENTS_URL: setting.url({
      description: 'Address of the stand-in for Stripe, with `PAYMENTS=sandbox`.',
      default: STRIPE_SANDBOX.apiBase,
    }),
    PAST_DUE_GRACE_DAYS: setting.integer({
      description: 'Days for which a past-due subscription still admits requests.',
      min: 0,
      max: 90,
      default: 7,
    }),
    RESERVATION_UNCERTAIN_AFTER_SECONDS: setting.integer({
      description:
        'Seconds after which a reservation without an outcome and without a holder becomes uncertain. One with a holder ' +
        'becomes uncertain when its holder dies.',
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
    REQUEST_RETENTION_DAYS: setting.integer({
      description: 'Days for which ended requests are kept. They are dropped by whole months.',
      min: 62,
      max: 4_000,
      default: 400,
    }),
    SWEEP_INTERVAL_MS: setting.integer({
      description:
        'Milliseconds between sweeps of reservations, and between runs of the work on payments that waits in the database.',
      min: 50,
      max: 600_000,
      default: 2_000,
    }),
  })
  .superRefine(
    (config, context) => {
      const { NODE_ENV, PAYMENTS, PAYMENTS_SANDBOX_IN_PRODUCTION: isAllowed } = config;
      if (NODE_ENV !== 'production' || PAYMENTS === 'stripe' || (PAYMENTS === 'sandbox' && isAllowed === '1')) return;
      const message =
        PAYMENTS === undefined
          ? 'must be set in production: stripe or sandbox'
          : 'sandbox takes no money: in production it needs PAYMENTS_SANDBOX_IN_PRODUCTION=1';
      context.addIssue({ code: 'custom', path: ['PAYMENTS'], message });
    },
    whenValid('NODE_ENV', 'PAYMENTS', 'PAYMENTS_SANDBOX_IN_PRODUCTION'),
  )
  .superRefine(
    (config, context) => {
      if (config.PAYMENTS !== 'stripe') return;
      for (const name of STRIPE_CREDENTIALS) {
        if (config[name] !== undefined) continue;
        context.addIssue({ code: 'custom', path: [name], message: 'must be set with PAYMENTS=stripe' });
      }
    },
    whenValid('PAYMENTS', ...STRIPE_CREDENTIALS),
  );

export type Config = z.infer<typeof configSchema>;

/** Returns the URL of the signing keys. */
export const jwksUrlOf = (config: Config): string => config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${JWKS_PATH}`;

/** Returns the rules that the configured plans must satisfy. */
export const planRulesOf = (config: Config) => ({
  currency: config.BILLING_CURRENCY,
  needsStripePrice: config.PAYMENTS === 'stripe',
});

/** Returns the address and keys of Stripe, or of its stand-in. */
export const stripeSettingsOf = (config: Config): StripeSettings & { readonly webhookSecrets: readonly string[] } => {
  if (config.PAYMENTS !== 'stripe') {
    const { secretKey, webhookSecret } = STRIPE_SANDBOX;
    return { apiBase: config.SANDBOX_PAYMENTS_URL, secretKey, webhookSecrets: [webhookSecret] };
  }
  const { STRIPE_API_BASE: apiBase, STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecrets = [] } = config;
  if (secretKey === undefined) throw new Error('STRIPE_SECRET_KEY is not set');
  return { apiBase, secretKey, webhookSecrets };
};

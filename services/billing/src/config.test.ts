import { loadConfig } from '@svc/service-kit';
import { describe, expect, test } from 'vitest';
import { configSchema, jwksUrlOf, stripeSettingsOf } from './config.ts';

const ENVIRONMENT = {
  DATABASE_URL: 'postgres://127.0.0.1/svc_billing',
  NATS_URL: 'nats://127.0.0.1:4222',
  PUBLIC_BASE_URL: 'http://127.0.0.1:8080',
  AUTH_INTERNAL_URL: 'http://127.0.0.1:3101',
  PLANS_FILE: '/etc/svc/plans.yaml',
  INTERNAL_API_TOKENS: 'inference-gateway:a-token-of-16-characters',
  INTERNAL_API_TOKEN: 'billing:a-token-of-16-characters',
  RECEIPT_KEY_SECRET: Buffer.alloc(32).toString('base64'),
};

describe('the configuration', () => {
  test('loads with only the variables that have no default', () => {
    const config = loadConfig(configSchema, ENVIRONMENT);
    expect(config).toMatchObject({ PAYMENTS: undefined, BILLING_CURRENCY: 'EUR', PAST_DUE_GRACE_DAYS: 7 });
    expect(jwksUrlOf(config)).toBe('http://127.0.0.1:3101/v1/integrations/oauth/jwks');
  });
  test.each([
    ['production', undefined, /PAYMENTS: must be set in production/],
    ['production', 'sandbox', /PAYMENTS: .*needs PAYMENTS_SANDBOX_IN_PRODUCTION=1/],
    ['production', 'strpie', /PAYMENTS: expected one of sandbox, stripe/],
    [undefined, 'strpie', /PAYMENTS: expected one of sandbox, stripe/],
  ])('refuses to start when NODE_ENV is %s and PAYMENTS is %s', (NODE_ENV, PAYMENTS, fault) => {
    const environment: NodeJS.ProcessEnv = { ...ENVIRONMENT, NODE_ENV, PAYMENTS };
    expect(() => loadConfig(configSchema, environment)).toThrow(fault);
  });
  test('allows the stand-in for Stripe in production if that is said, and gives it its own address and keys', () => {
    const said = { NODE_ENV: 'production', PAYMENTS: 'sandbox', PAYMENTS_SANDBOX_IN_PRODUCTION: '1' };
    const config = loadConfig(configSchema, { ...ENVIRONMENT, ...said, STRIPE_SECRET_KEY: 'sk_live_1' });
    expect(stripeSettingsOf(config)).toEqual({
      apiBase: 'http://127.0.0.1:9300',
      secretKey: 'sk_test_sandbox',
      webhookSecrets: ['whsec_sandbox'],
    });
  });
  test('lists the faults of PAYMENTS beside those of other variables', () => {
    const load = (more: object) => loadConfig(configSchema, { ...ENVIRONMENT, DATABASE_URL: 'nonsense', ...more });
    expect(() => load({ NODE_ENV: 'production' })).toThrow(/DATABASE_URL: .*PAYMENTS: must be set in production/s);
    expect(() => load({ PAYMENTS: 'strpie' })).toThrow(/DATABASE_URL: .*PAYMENTS: expected one of/s);
    expect(() => load({ PAYMENTS: 'stripe', STRIPE_WEBHOOK_SECRET: ',' })).toThrow(
      /DATABASE_URL: .*STRIPE_WEBHOOK_SECRET: expected .*at least 1 item/s,
    );
    expect(() => load({ PAYMENTS: 'stripe' })).toThrow(/DATABASE_URL: .*STRIPE_SECRET_KEY: must be set/s);
  });
  test('lists every missing Stripe variable, and refuses an invalid currency code', () => {
    const load = (more: object) => loadConfig(configSchema, { ...ENVIRONMENT, ...more });
    expect(() => load({ PAYMENTS: 'stripe' })).toThrow(
      /STRIPE_SECRET_KEY: must be set.*\n.*STRIPE_WEBHOOK_SECRET: must be set/s,
    );
    const stripe = { PAYMENTS: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_new,whsec_old' };
    expect(load(stripe).STRIPE_WEBHOOK_SECRET).toEqual(['whsec_new', 'whsec_old']);
    expect(() => load({ BILLING_CURRENCY: 'euro' })).toThrow(/ISO 4217/);
  });
  test('lists a currency whose minor units are not known among the other faults', () => {
    const load = (more: object) => loadConfig(configSchema, { ...ENVIRONMENT, ...more });
    expect(load({ BILLING_CURRENCY: 'JPY' }).BILLING_CURRENCY).toBe('JPY');
    expect(() => load({ BILLING_CURRENCY: 'XXX', PLANS_FILE: undefined })).toThrow(
      /PLANS_FILE.*\n.*BILLING_CURRENCY: .*currency that Stripe charges/s,
    );
  });
});

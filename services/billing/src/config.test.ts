import { loadConfig } from '@svc/service-kit';
import { describe, expect, test } from 'vitest';
import { configSchema, jwksUrlOf } from './config.ts';

const ENVIRONMENT = {
  DATABASE_URL: 'postgres://127.0.0.1/svc_billing',
  NATS_URL: 'nats://127.0.0.1:4222',
  PUBLIC_BASE_URL: 'http://127.0.0.1:8080',
  AUTH_INTERNAL_URL: 'http://127.0.0.1:3101',
  PLANS_FILE: '/etc/svc/plans.yaml',
  INTERNAL_API_TOKENS: 'inference-gateway:a-token-of-16-characters',
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
    ['production', 'strpie', /PAYMENTS: expected one of sandbox, stripe/],
    [undefined, 'strpie', /PAYMENTS: expected one of sandbox, stripe/],
  ])('refuses to start when NODE_ENV is %s and PAYMENTS is %s', (NODE_ENV, PAYMENTS, fault) => {
    const environment: NodeJS.ProcessEnv = { ...ENVIRONMENT, NODE_ENV, PAYMENTS };
    expect(() => loadConfig(configSchema, environment)).toThrow(fault);
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
});

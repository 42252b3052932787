import { loadConfig } from '@svc/service-kit';
import { expect, test } from 'vitest';
import { configSchema } from './config.ts';

test.each([
  [{ NODE_ENV: 'production', PUBLISHER_PROOFS: 'sandbox' }, /PUBLISHER_PROOFS: must not be sandbox in production/],
  [{ SSO_ISSUER: 'https://id.example' }, /SSO_CLIENT_ID: is not set; single sign-on.*SSO_CLIENT_SECRET: is not set/s],
  [{ SSO_ISSUER: 'http://id.example' }, /SSO_ISSUER: expected https, or http on loopback/],
])('lists a fault across variables beside missing ones: %j', (environment, fault) => {
  const load = () => loadConfig(configSchema, environment);
  expect(load).toThrow(fault);
  expect(load).toThrow(/DATABASE_URL: is not set/);
});

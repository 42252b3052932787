import { readFileSync } from 'node:fs';
import { plansFileSchema, routesFileSchema, serviceNames } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Secrets } from './secrets.ts';
import { inheritedEnvironment, type ServiceContext, serviceEnvironment } from './service-environment.ts';
import { readSettings } from './settings.ts';

const secrets: Secrets = {
  AUTH_API_TOKEN: 'auth:own',
  BILLING_API_TOKEN: 'billing:own',
  INFERENCE_GATEWAY_API_TOKEN: 'inference-gateway:own',
  WEBHOOK_DISPATCHER_API_TOKEN: 'webhook-dispatcher:own',
  OPERATOR_API_TOKEN: 'operator:own',
  AUTH_ENCRYPTION_KEY: 'auth-key',
  WEBHOOK_ENCRYPTION_KEY: 'webhook-key',
  API_KEY_PEPPER: 'pepper',
  RECEIPT_KEY_SECRET: 'receipts',
  PROVENANCE_KEY_SECRET: 'proofs',
  SANDBOX_PROVIDER_KEY: 'sandbox-key',
  POSTGRES_PASSWORD: 'pg',
  AUTH_DATABASE_PASSWORD: 'a',
  BILLING_DATABASE_PASSWORD: 'b',
  INFERENCE_GATEWAY_DATABASE_PASSWORD: 'c',
  WEBHOOK_DISPATCHER_DATABASE_PASSWORD: 'd',
  AUTH_NATS_PASSWORD: 'na',
  BILLING_NATS_PASSWORD: 'nb',
  INFERENCE_GATEWAY_NATS_PASSWORD: 'nc',
  WEBHOOK_DISPATCHER_NATS_PASSWORD: 'nd',
  OPERATOR_NATS_PASSWORD: 'no',
};

const context = (env: NodeJS.ProcessEnv = {}): ServiceContext => ({
  env,
  ports: new Map(
    serviceNames.flatMap((name, index) => [[name, 100 + index] as const, [`${name}-internal`, 200 + index] as const]),
  ),
  secrets,
  databaseUrl: 'postgres://own',
  natsUrl: 'nats://own',
  publicBaseUrl: 'http://127.0.0.1:8080',
  routesFile: '/data/routes.yaml',
  plansFile: '/config/plans.yaml',
  usageJournal: '/data/usage-journal',
  compileCache: '/data/cache',
});

describe('the environment of a service', () => {
  test('names its ports, database, broker, callers and peers', () => {
    expect(serviceEnvironment('billing', context())).toMatchObject({
      PORT: '101',
      INTERNAL_PORT: '201',
      DATABASE_URL: 'postgres://own',
      NATS_URL: 'nats://own',
      PUBLIC_BASE_URL: 'http://127.0.0.1:8080',
      INTERNAL_API_TOKEN: 'billing:own',
      AUTH_INTERNAL_URL: 'http://127.0.0.1:200',
      PAYMENTS: 'sandbox',
      PLANS_FILE: '/config/plans.yaml',
    });
  });

  test.each(serviceNames)('%s gets no secret of another service', (service) => {
    const values = new Set(Object.values(serviceEnvironment(service, context())));
    const own = {
      auth: ['auth:own', 'auth-key'],
      billing: ['billing:own', 'receipts'],
      'inference-gateway': ['inference-gateway:own', 'pepper', 'proofs', 'sandbox-key'],
      'webhook-dispatcher': ['webhook-dispatcher:own', 'webhook-key'],
    }[service];
    expect(Object.values(secrets).filter((secret) => values.has(secret))).toEqual(own);
  });

  test('has the digests of its callers’ credentials and none of the credentials', () => {
    const { INTERNAL_API_TOKENS: accepted = '' } = serviceEnvironment('billing', context());
    expect(accepted.split(',').map((item) => item.replace(/[0-9a-f]{64}$/, 'digest'))).toEqual([
      'auth:sha256:digest',
      'inference-gateway:sha256:digest',
      'webhook-dispatcher:sha256:digest',
      'operator:sha256:digest',
    ]);
  });

  test('takes the person’s variables over the defaults, but not the ports and databases of other programs', () => {
    const env = {
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk',
      LOG_LEVEL: 'debug',
      PORT: '80',
      DATABASE_URL: 'postgres://foreign',
    };
    expect(serviceEnvironment('billing', context({ ...env, AUTH_DATABASE_URL: 'postgres://secret' }))).toMatchObject({
      PAYMENTS: 'stripe',
      STRIPE_SECRET_KEY: 'sk',
      LOG_LEVEL: 'debug',
      PORT: '101',
      DATABASE_URL: 'postgres://own',
    });
    expect(inheritedEnvironment({ AUTH_DATABASE_URL: 'x', npm_config_yes: 'true', PATH: '/bin' }, '/c')).toEqual({
      PATH: '/bin',
      NODE_COMPILE_CACHE: '/c',
    });
  });
});

describe('settings', () => {
  test('have defaults, and resolve paths against the working directory', () => {
    expect(readSettings({}, '/here')).toMatchObject({ port: 8080, host: '127.0.0.1', publicBaseUrl: undefined });
    const settings = readSettings(
      { SVC_DATA_DIR: 'data', ROUTES_FILE: 'my.yaml', PUBLIC_BASE_URL: 'https://x/' },
      '/here',
    );
    expect(settings).toMatchObject({ dataDirectory: '/here/data', publicBaseUrl: 'https://x' });
    expect(settings.env['ROUTES_FILE']).toBe('/here/my.yaml');
  });

  test.each(['http', '70000', '-1', '80.5'])('refuse PORT=%s', (port) => {
    expect(() => readSettings({ PORT: port }, '/')).toThrow(`PORT=${port} is not a port`);
  });
});

describe('the shipped configuration', () => {
  const read = (name: string): unknown => parse(readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8'));

  test('has a route for every kind of inference', () => {
    const { routes, delegated } = routesFileSchema.parse(read('routes.yaml'));
    expect(routes.map(({ service }) => service)).toEqual(['chat', 'completions', 'embeddings', 'audio_transcription']);
    expect(delegated).toEqual({ chat: ['chat-eu'], audio_transcription: ['audio-eu'] });
  });

  test('has three plans', () => {
    expect(plansFileSchema.parse(read('plans.yaml')).plans).toHaveLength(3);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createSandboxProvider, type SandboxProvider } from '@svc/sandbox/provider';
import { createLifecycle, createLogger, loadConfig } from '@svc/service-kit';
import { internalCredentials, type TestTokens, testTokens } from '@svc/testing';
import { startApp } from '../../src/app.ts';
import { configSchema } from '../../src/config.ts';
import { providerKeysFrom } from '../../src/provider-routes/index.ts';
import { type BillingStandIn, startBilling, TOKEN } from './billing-stand-in.ts';
import { type Door, openDoor } from './door.ts';

const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
const PROVIDER_KEY = 'the-key-of-the-provider';
export const PRICE = { input_micros_per_million: 2_000_000, output_micros_per_million: 6_000_000 };

/** The gateway with a real database, NATS server and provider sockets. */
export interface TestGateway {
  readonly url: string;
  readonly internalUrl: string;
  readonly database: TestDatabase;
  /** Proxy between the gateway and its database, with `canFail`. */
  readonly databaseDoor: Door | undefined;
  readonly nats: TestNats;
  readonly tokens: TestTokens;
  readonly billing: BillingStandIn;
  readonly provider: SandboxProvider;
  readonly routesFile: string;
  /** Initial content of the routes file. */
  readonly routesText: string;
  /** Environment of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns everything logged so far. */
  readonly logs: () => string;
  readonly reload: () => Promise<boolean>;
  /** Stops only the gateway. Returns true if the shutdown was clean. */
  readonly stopService: () => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

export interface TestGatewayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Builds the routes file from the provider's address. */
  readonly routes?: (providerUrl: string) => string;
  readonly clock?: () => number;
  /** Uses a database behind a proxy and a separate NATS server, so that a test can stop them. */
  readonly canFail?: boolean;
}

/** Creates an API key, by default of a new account and without limits. */
export const createKey = async (
  { url, tokens }: Pick<TestGateway, 'url' | 'tokens'>,
  { userId = newId('usr'), settings = {} }: { readonly userId?: string; readonly settings?: object } = {},
): Promise<string> => {
  const created = await fetch(`${url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await tokens.consoleSession({ userId })}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Test', ...settings }),
  });
  return JSON.parse(await created.text()).key;
};

export const startGateway = async (options: TestGatewayOptions = {}): Promise<TestGateway> => {
  const [database, nats, tokens, billing, provider] = await Promise.all([
    testDatabase({ migrations: MIGRATIONS }),
    testNats({ own: options.canFail }),
    testTokens(),
    startBilling(),
    createSandboxProvider({ port: 0, apiKey: PROVIDER_KEY }),
  ]);
  const databaseDoor = options.canFail ? await openDoor(database.url) : undefined;
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  const routesFile = join(directory, 'routes.yaml');
  const routesText = (options.routes ?? defaultRoutes)(`${provider.url}/v1`);
  await writeFile(routesFile, routesText);
  const lines: string[] = [];
  const logger = createLogger({
    service: 'inference-gateway',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const life = createLifecycle({ logger, shutdownGraceMs: 5_000 });
  const environment = {
    DATABASE_URL: databaseDoor?.url ?? database.url,
    NATS_URL: nats.urlOf('inference-gateway'),
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    PORT: '0',
    INTERNAL_PORT: '0',
    INTERNAL_API_TOKENS: internalCredentials,
    INTERNAL_API_TOKEN: TOKEN,
    AUTH_INTERNAL_URL: new URL(tokens.jwksUrl).origin,
    BILLING_INTERNAL_URL: billing.url,
    ROUTES_FILE: routesFile,
    API_KEY_PEPPER: 'ab'.repeat(32),
    PROVENANCE_KEY_SECRET: Buffer.alloc(32, 5).toString('base64'),
    INGRESS_REGION: 'test-region',
    RESPONSE_VALIDATION: 'true',
    // Disables pauses for tests with many failures of a provider.
    ROUTE_FAILURES_MAX: '1000',
    ...options.environment,
  };
  const config = loadConfig(configSchema, environment);
  const app = await startApp(life, {
    config,
    logger,
    providerKey: providerKeysFrom({ PROVIDER_KEY }),
    clock: options.clock ?? Date.now,
  });
  return {
    url: app.url,
    internalUrl: app.internalUrl,
    database,
    databaseDoor,
    nats,
    tokens,
    billing,
    provider,
    routesFile,
    routesText,
    environment,
    logs: () => lines.join(''),
    reload: app.routes.reload,
    stopService: life.stop,
    stop: async () => {
      await life.stop();
      await Promise.all([billing.stop(), provider.stop(), tokens.stop(), nats.stop(), databaseDoor?.remove()]);
      await database.drop();
      await rm(directory, { recursive: true });
    },
  };
};

const certification = '{reference: TEST, certified_at: 2020-01-01, expires_at: 2100-01-01}';
const price = `{input_micros_per_million: ${PRICE.input_micros_per_million}, output_micros_per_million: ${PRICE.output_micros_per_million}}`;

export const provider = (id: string, baseUrl: string): string =>
  `${id}: {base_url: "${baseUrl}", api_key_env: PROVIDER_KEY, name: Sandbox ${id}}`;

export const route = (
  id: string,
  fields: Partial<Record<'model' | 'provider' | 'upstream' | 'service', string>> = {},
): string =>
  `{id: ${id}, model: ${fields.model ?? 'svc-chat'}, provider: ${fields.provider ?? 'sandbox'}, ` +
  `upstream_model: ${fields.upstream ?? 'sandbox-chat-1'}, service: ${fields.service ?? 'chat'}, data_zone: EU, ` +
  `active: true, certification: ${certification}, price: ${fields.service === 'audio_transcription' ? '{micros_per_second: 100}' : price}}`;

export const routesYaml = (parts: {
  providers: string[];
  routes: string[];
  chat?: string[];
  audio?: string[];
}): string =>
  [
    `providers: {${parts.providers.join(', ')}}`,
    `routes: [${parts.routes.join(', ')}]`,
    `delegated: {chat: [${(parts.chat ?? []).join(', ')}], audio_transcription: [${(parts.audio ?? []).join(', ')}]}`,
    '',
  ].join('\n');

const defaultRoutes = (url: string): string =>
  routesYaml({
    providers: [provider('sandbox', url)],
    routes: [
      route('chat-eu'),
      route('completions-eu', { model: 'svc-completion', upstream: 'sandbox-completion-1', service: 'completions' }),
      route('embeddings-eu', { model: 'svc-embedding', upstream: 'sandbox-embedding-1', service: 'embeddings' }),
      route('audio-eu', { model: 'svc-audio', upstream: 'sandbox-audio-1', service: 'audio_transcription' }),
    ],
    chat: ['chat-eu'],
    audio: ['audio-eu'],
  });

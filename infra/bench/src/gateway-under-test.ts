import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { newId } from '@svc/contracts';
import type { TestTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import pg from 'pg';
import { openClient } from './harness/http.ts';
import type { Launch } from './harness/node-process.ts';
import type { RunningService, ServiceLaunch, Stack } from './harness/stack.ts';

const WALLET_MICROS = 1_000_000_000_000;
const EXAMPLE_PROVIDER = 'http://127.0.0.1:9100/v1';

const FLOOR_GATEWAY = new URL('./admission-floor/gateway.ts', import.meta.url).pathname;
const FLOOR_BILLING = new URL('./admission-floor/billing.ts', import.meta.url).pathname;

/** Model name of the chat route. */
export const CHAT_MODEL = 'svc-chat';

/** The gateway and the billing that admits its requests. */
export interface GatewayUnderTest {
  readonly billing: RunningService;
  readonly gateway: RunningService;
}

export interface GatewayUnderTestOptions {
  readonly tokens: TestTokens;
  /** Without a path. */
  readonly providerUrl: string;
  readonly providerKey: string;
  /** Edits the local stack's example routes file. */
  readonly editRoutes?: (text: string) => string;
  readonly env?: Readonly<Record<string, string>>;
  readonly billingEnv?: Readonly<Record<string, string>>;
  readonly launch?: ServiceLaunch;
}

/** Starts the sandbox provider in a separate process. */
export const startProvider = async (stack: Stack): Promise<{ providerUrl: string; providerKey: string }> => {
  const port = await freePort();
  const providerKey = randomBytes(16).toString('hex');
  const providerUrl = `http://127.0.0.1:${port}`;
  const script = new URL(import.meta.resolve('@svc/sandbox/provider/main')).pathname;
  const provider = await stack.startScript(script, { PORT: String(port), SANDBOX_PROVIDER_KEY: providerKey });
  await provider.ready(`${providerUrl}/healthz`);
  return { providerUrl, providerKey };
};

/** Starts billing and the gateway with the local stack's routes, all to one provider. */
export const startGateway = async (stack: Stack, options: GatewayUnderTestOptions): Promise<GatewayUnderTest> => {
  const { tokens, providerUrl, providerKey, editRoutes = (text) => text, env = {}, billingEnv = {}, launch } = options;
  const routesFile = stack.scratchFile('routes.yaml');
  const example = readFileSync(stack.example('routes.yaml'), 'utf8');
  writeFileSync(routesFile, editRoutes(example.replace(EXAMPLE_PROVIDER, `${providerUrl}/v1`)));
  const common = {
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    JWKS_URL: tokens.jwksUrl,
    AUTH_INTERNAL_URL: 'http://127.0.0.1:9',
  };
  const isBundled = launch?.isBundled ?? false;
  const plans = { PLANS_FILE: stack.example('plans.yaml') };
  const billing = await stack.start('billing', { ...common, ...plans, ...billingEnv }, { isBundled });
  const settings = {
    ...common,
    BILLING_INTERNAL_URL: billing.internalUrl,
    ROUTES_FILE: routesFile,
    SANDBOX_PROVIDER_KEY: providerKey,
    API_KEY_PEPPER: randomBytes(32).toString('hex'),
    USAGE_JOURNAL_DIR: stack.scratchFile('usage-journal'),
    ...env,
  };
  return { billing, gateway: await stack.start('inference-gateway', settings, launch) };
};

/** Starts the lower bound of admission before forwarding, with as many processes and commits as ours. */
export const startAdmissionFloor = async (
  stack: Stack,
  { providerUrl, providerKey, launch }: { providerUrl: string; providerKey: string; launch?: Launch },
): Promise<{ baseUrl: string; pid: number }> => {
  const billingPort = String(await freePort());
  const port = String(await freePort());
  const billingUrl = `http://127.0.0.1:${billingPort}`;
  const baseUrl = `http://127.0.0.1:${port}`;
  const billing = await stack.startScript(FLOOR_BILLING, { PORT: billingPort, DATABASE_URL: stack.postgresUrl });
  const settings = { PORT: port, BILLING_URL: billingUrl, PROVIDER_URL: providerUrl, PROVIDER_KEY: providerKey };
  const gateway = await stack.startScript(FLOOR_GATEWAY, settings, launch);
  await Promise.all([billing.ready(billingUrl), gateway.ready(baseUrl)]);
  return { baseUrl, pid: gateway.pid };
};

/** Creates API keys without limits, each of an account whose wallet holds `walletMicros`. */
export const createKeys = async (
  { billing, gateway }: GatewayUnderTest,
  tokens: TestTokens,
  count: number,
  walletMicros = WALLET_MICROS,
): Promise<string[]> => {
  const database = new pg.Client(billing.databaseUrl);
  await database.connect();
  const owner = openClient(gateway.url, 1);
  const keys: string[] = [];
  while (keys.length < count) {
    const userId = newId('usr');
    if (walletMicros > 0) await database.query("SELECT wallet_credit($1, $2, 'EUR', $1)", [userId, walletMicros]);
    const token = await tokens.consoleSession({ userId, accountType: 'business' });
    const json = { name: 'Bench' };
    const created = await owner.expect(201, { method: 'POST', path: '/v1/gateway/keys', token, json });
    keys.push(created.field('key'));
  }
  await Promise.all([database.end(), owner.close()]);
  return keys;
};

/** Creates accounts with a full subscription and returns an access token for each. */
export const createSubscribers = async (
  { billing }: Pick<GatewayUnderTest, 'billing'>,
  tokens: TestTokens,
  count: number,
): Promise<string[]> => {
  const users = Array.from({ length: count }, () => newId('usr'));
  const database = new pg.Client(billing.databaseUrl);
  await database.connect();
  await database.query(
    `SELECT entitle_account(id, 'active', 'standard', NULL, date_trunc('milliseconds', now()), 'month', now(), now() + interval '1 month')
     FROM unnest($1::text[]) AS id`,
    [users],
  );
  await database.end();
  return await Promise.all(users.map((userId) => tokens.accessToken({ userId })));
};

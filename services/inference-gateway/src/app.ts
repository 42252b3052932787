import { randomUUID } from 'node:crypto';
import { routes as contract } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { type Consumer, inboxRoutes, outboxRoutes, readAgain, restoreRoutes } from '@svc/messaging';
import {
  type ApiKeyCaller,
  type Authenticate,
  type Authenticators,
  createInternalApp,
  createMetrics,
  createServiceApp,
  createTokenAuthenticators,
  type Lifecycle,
  type Logger,
  type Metrics,
  type TokenAuthenticators,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  type ApiKeyDeps,
  apiKeyRoutes,
  batchKeyFinds,
  createKeyAuthenticator,
  createLastUseTracker,
  KEY_PREFIX,
  startAccessConsumer,
  startErasureConsumer,
} from './api-keys/index.ts';
import { type BillingClient, createBillingClient } from './billing-client.ts';
import { createCompletionMeters } from './completions/index.ts';
import type { Config } from './config.ts';
import { type Connections, openConnections } from './connections.ts';
import { createActivityCounter, delegatedRoutes } from './delegated/index.ts';
import { createKeyStandings, gatewayRoutes } from './gateway/index.ts';
import { createHolder, type Holder } from './holder/index.ts';
import { createInFlight, type InFlight } from './in-flight.ts';
import type { InferenceDeps } from './inference-deps.ts';
import { jsonTaskTable } from './json-task-table.ts';
import { openJsonTasks, openTextMemory } from './large-json/index.ts';
import { openUsage } from './open-usage.ts';
import { personalDataRoutes } from './personal-data/index.ts';
import { createProviderClient, createRouteGates, type RouteGates } from './providers/index.ts';
import { openRoutesFile, type ReadProviderKey, type RoutesInForce, routesOperatorRoutes } from './routes/index.ts';
import { createOpenStreams } from './streaming/index.ts';
import { type UsageWriter, usageRoutes } from './usage-records/index.ts';

const SERVICE = 'inference-gateway';
/** Generous: providers send events of up to about a megabyte. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** The worker's module is next to this one, both in the source tree and in a bundle. */
const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href;
/** Slightly less than the timeout of a shutdown step. */
const STOP_STEP_MS = 9_000;

export interface AppOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Reads a provider's key, given the variable that the routes file names. */
  readonly providerKey: ReadProviderKey;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export interface App {
  readonly url: string;
  readonly internalUrl: string;
  readonly routes: RoutesInForce;
}

/** Builds the application and listens. The lifecycle closes its parts in reverse order. */
export const startApp = async (life: Lifecycle, options: AppOptions): Promise<App> => {
  const { config, logger, clock } = options;
  const metrics = createMetrics(SERVICE);
  const { providerKey } = options;
  const routes = await openRoutesFile({ file: config.ROUTES_FILE, providerKey, clock, logger });
  life.onStop('routes file', routes.stop);
  const connections = await openConnections(life, { service: SERVICE, config, logger, metrics, clock });
  const billing = openBilling(life, options);
  const inFlight = createInFlight();
  const mustBeIdle = [inFlight.isIdle];
  const holder = createHolder({
    id: randomUUID(),
    billing,
    logger,
    isIdle: () => mustBeIdle.every((isIdle) => isIdle()),
  });
  life.onStop('holder', holder.stop);
  const usage = openUsage(life, connections, { holderId: holder.id, config, billing, logger, metrics });
  mustBeIdle.push(usage.isIdle);
  const deps = openInference(life, { ...options, metrics, billing, holder, inFlight, usage, routes });
  const common = {
    service: SERVICE,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    responseValidation: config.RESPONSE_VALIDATION,
  } as const;
  const consumers: readonly Consumer[] = [
    startAccessConsumer({ ...connections, clock }),
    startErasureConsumer(connections),
  ];
  life.onStop('consumers', async () => void (await Promise.all(consumers.map((consumer) => consumer.stop()))));
  const internal = createInternalApp({
    ...common,
    bindings: [
      ...routesOperatorRoutes({ routes, providerKey, clock }),
      ...personalDataRoutes({ url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE }),
      ...outboxRoutes({ service: SERVICE, ...connections }),
      ...restoreRoutes({
        service: SERVICE,
        database: connections.database,
        readAgain: () => readAgain(connections.messaging, consumers),
      }),
      ...inboxRoutes({ service: SERVICE, ...connections, consumers: () => consumers }),
    ],
    tokens: config.INTERNAL_API_TOKENS,
    lifecycle: life,
    ready: async () => ({ database: await canQuery(connections.database), usage_records: usage.hasRoom() }),
  });
  const keys = openApiKeys(life, connections, { ...options, billing });
  const activity = createActivityCounter({ ...connections, clock, logger });
  life.onStop('activity of apps', activity.stop);
  const app = createServiceApp({
    ...common,
    bindings: [
      ...delegatedRoutes({ ...deps, activity }),
      ...gatewayRoutes(deps),
      ...apiKeyRoutes(keys.deps),
      ...usageRoutes({ database: connections.database, billing: deps.billing }),
    ],
    authenticate: authenticators(tokenAuthenticators(connections, options), keys.authenticate),
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock: () => new Date(clock()) },
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustProxyHops: config.TRUST_PROXY_HOPS,
  });
  const internalListener = await life.listen(internal, {
    host: config.HOST,
    port: config.INTERNAL_PORT,
    internal: true,
  });
  const listener = await life.listen(app, { host: config.HOST, port: config.PORT });
  return { url: listener.url, internalUrl: internalListener.url, routes };
};

const tokenAuthenticators = ({ revocations }: Connections, { config, clock, logger }: AppOptions) =>
  createTokenAuthenticators({
    publicBaseUrl: config.PUBLIC_BASE_URL,
    jwksUrl: config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${contract.getJwks.path}`,
    revocations,
    clock: () => new Date(clock()),
    logger,
  });

/** API keys are recognized by a prefix that no session token can have. */
const authenticators = (tokens: TokenAuthenticators, apiKey: Authenticate<ApiKeyCaller>): Authenticators => ({
  ...tokens,
  api_key: apiKey,
  session_or_api_key: (credential, presentation) =>
    credential.startsWith(KEY_PREFIX) ? apiKey(credential) : tokens.console_session(credential, presentation),
});

const openApiKeys = (
  life: Lifecycle,
  { database, relay, revocations }: Connections,
  { config, clock, logger, billing }: AppOptions & Pick<ApiKeyDeps, 'billing'>,
): { readonly deps: ApiKeyDeps; readonly authenticate: Authenticate<ApiKeyCaller> } => {
  const pepper = config.API_KEY_PEPPER;
  const lastUses = createLastUseTracker({ database, clock, logger });
  life.onStop('last uses of keys', lastUses.stop);
  return {
    deps: { database, relay, revocations, billing, pepper, clock },
    authenticate: createKeyAuthenticator({
      find: batchKeyFinds(database),
      pepper,
      revocations,
      onUse: lastUses.note,
      clock,
    }),
  };
};

const openBilling = (life: Lifecycle, { config, logger }: AppOptions): BillingClient => {
  const billing = createBillingClient({
    baseUrl: config.BILLING_INTERNAL_URL,
    token: config.INTERNAL_API_TOKEN,
    admissionTimeoutMs: config.ADMISSION_TIMEOUT_MS,
    logger,
  });
  life.onStop('billing client', () => billing.close());
  return billing;
};

const openInference = (
  life: Lifecycle,
  options: AppOptions & {
    readonly metrics: Metrics;
    readonly billing: BillingClient;
    readonly holder: Holder;
    readonly inFlight: InFlight;
    readonly usage: UsageWriter;
    readonly routes: RoutesInForce;
  },
): InferenceDeps => {
  const { config, logger, clock, billing, holder, inFlight, usage, routes } = options;
  const json = openJsonTasks({ tasks: jsonTaskTable, workerFile: WORKER_FILE, logger, metrics: options.metrics });
  life.onStop('JSON workers', () => json.close());
  const providers = createProviderClient({ connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS });
  life.onStop('providers', () => providers.close());
  life.onStop('requests whose callers have left', () => inFlight.idle(STOP_STEP_MS));
  return {
    billing,
    holder,
    usage,
    routes: routes.table,
    providers,
    gates: openGates(options),
    inFlight,
    streams: createOpenStreams(options.metrics),
    upstreamLimits: {
      firstByteTimeoutMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
      idleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
      totalTimeoutMs: config.UPSTREAM_TOTAL_TIMEOUT_MS,
    },
    streamLimits: { eventBytesMax: EVENT_BYTES_MAX, clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_MS },
    ingressRegion: config.INGRESS_REGION,
    manageUrl: `${config.PUBLIC_BASE_URL}/connections`,
    json,
    requestMemory: openTextMemory(),
    answerMemory: openTextMemory(),
    keyStandings: createKeyStandings({ readStanding: billing.keyStanding, clock }),
    meters: createCompletionMeters(options.metrics),
    clock,
  };
};

const openGates = (options: AppOptions & { readonly metrics: Metrics }): RouteGates => {
  const { config, clock, logger, metrics } = options;
  const limits = {
    inFlightMax: config.ROUTE_IN_FLIGHT_MAX,
    failuresMax: config.ROUTE_FAILURES_MAX,
    pauseMs: config.ROUTE_PAUSE_MS,
  };
  return createRouteGates({ limits, clock, logger, metrics });
};

const canQuery = async (database: Knex): Promise<boolean> =>
  database.raw('SELECT 1').then(
    () => true,
    () => false,
  );

import { randomUUID } from 'node:crypto';
import { routes as contract } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { type Consumer, inboxRoutes, outboxRoutes, readAgain, restoreRoutes } from '@svc/messaging';
import { secretRoutes } from '@svc/secrets';
import {
  type ApiKeyCaller,
  type Authenticate,
  type Authenticators,
  createInternalApp,
  createMetrics,
  createServiceApp,
  createTokenAuthenticators,
  type InternalAppOptions,
  type Lifecycle,
  type Logger,
  type Metrics,
  type TokenAuthenticators,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { apiKeyRequestRoutes, priceInternalRoutes } from './api-key-requests/routes.ts';
import { apiKeyText } from './api-keys/api-key.ts';
import { createLimitReporter } from './api-keys/limit-reporter.ts';
import { openApiKeys } from './api-keys/open-api-keys.ts';
import { apiKeyInternalRoutes, apiKeyRoutes } from './api-keys/routes.ts';
import { type BillingClient, createBillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import { type Connections, openConnections, openSecrets } from './connections.ts';
import { createActivityCounter } from './delegated-requests/activity-counter.ts';
import { delegatedRoutes } from './delegated-requests/routes.ts';
import { createInFlight } from './forwarding/in-flight.ts';
import { createForwardingMeters } from './forwarding/index.ts';
import { createProcessLease, type LeaseBook, leaseRoutes, openLeases, reachableUrl } from './leases/index.ts';
import { openInference } from './open-inference.ts';
import { personalDataRoutes } from './personal-data.ts';
import { provenanceOperatorRoutes, provenanceRoutes } from './provenance.ts';
import {
  openRoutesFile,
  type ReadProviderKey,
  type RoutesInForce,
  type RouteTable,
  routesOperatorRoutes,
  watchCertifications,
} from './provider-routes/index.ts';
import { openUsage, type UsageWriter, usageRoutes } from './usage-records/index.ts';

const SERVICE = 'inference-gateway';

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
  const routes = await openRoutes(life, { ...options, metrics });
  const connections = await openConnections(life, { service: SERVICE, config, logger, metrics, clock });
  const secrets = await openSecrets(connections.database, options);
  const proofKeys = secrets.proofs.keys;
  const billing = openBilling(life, options);
  const inFlight = createInFlight();
  const mustBeIdle = [inFlight.isIdle];
  const holder = createProcessLease({
    id: randomUUID(),
    billing,
    logger,
    isIdle: () => mustBeIdle.every((isIdle) => isIdle()),
  });
  life.onStop('holder', holder.stop);
  const usage = openUsage(life, connections, { holderId: holder.id, config, billing, logger, metrics });
  mustBeIdle.push(usage.isIdle);
  const limits = createLimitReporter({ ...connections, billing, logger });
  life.onStop('reached limits of keys', limits.stop);
  const leases = openLeases(life, { config, metrics, billing, holder, onLimitReached: limits.refused });
  const deps = openInference(life, {
    ...options,
    metrics,
    billing,
    holder,
    inFlight,
    usage,
    routes,
    leases,
    proofKeys,
  });
  const common = {
    service: SERVICE,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    responseValidation: config.RESPONSE_VALIDATION,
  } as const;
  const keys = openApiKeys(life, { ...connections, billing, pepper: secrets.pepper, clock, logger });
  const { consumers } = keys;
  const internal = createInternal(life, options, { connections, common, consumers, usage, leases, routes, secrets });
  const activity = createActivityCounter({ ...connections, clock, logger });
  life.onStop('activity of apps', activity.stop);
  const app = createServiceApp({
    ...common,
    bindings: [
      ...delegatedRoutes({ ...deps, activity }),
      ...apiKeyRequestRoutes(deps),
      ...apiKeyRoutes(keys.deps),
      ...provenanceRoutes({ keys: proofKeys }),
      ...usageRoutes({ database: connections.database, billing, usage }),
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
  holder.start(reachableUrl({ host: config.HOST, port: internalListener.port }));
  const listener = await life.listen(app, { host: config.HOST, port: config.PORT });
  return { url: listener.url, internalUrl: internalListener.url, routes };
};

interface InternalParts {
  readonly connections: Connections;
  readonly common: Omit<InternalAppOptions, 'bindings' | 'tokens' | 'ready' | 'lifecycle'>;
  readonly consumers: readonly Consumer[];
  readonly usage: UsageWriter;
  readonly leases: LeaseBook;
  readonly routes: RoutesInForce;
  readonly secrets: Awaited<ReturnType<typeof openSecrets>>;
}

/** Builds the application of the internal port. */
const createInternal = (
  life: Lifecycle,
  { config, providerKey, clock }: AppOptions,
  { connections, common, consumers, usage, leases, routes, secrets: { proofs, secrets } }: InternalParts,
) =>
  createInternalApp({
    ...common,
    bindings: [
      ...leaseRoutes({ leases }),
      ...apiKeyInternalRoutes(connections),
      ...priceInternalRoutes({ routes: routes.table, clock, currency: config.BILLING_CURRENCY }),
      ...routesOperatorRoutes({ routes, providerKey, clock }),
      ...personalDataRoutes({ url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE }),
      ...outboxRoutes({ service: SERVICE, ...connections }),
      ...restoreRoutes({
        service: SERVICE,
        database: connections.database,
        readAgain: () => readAgain(connections.messaging, consumers),
      }),
      ...inboxRoutes({ service: SERVICE, ...connections, consumers: () => consumers }),
      ...provenanceOperatorRoutes({ withdrawKeys: proofs.withdraw }),
      ...secretRoutes({ service: SERVICE, database: connections.database, uses: secrets }),
    ],
    tokens: config.INTERNAL_API_TOKENS,
    lifecycle: life,
    ready: async () => ({ database: await canQuery(connections.database), usage_records: usage.hasRoom() }),
  });

/** Opens the routes file. Counters by route start at zero, so that alerts see their first count. */
const openRoutes = async (
  life: Lifecycle,
  options: AppOptions & { readonly metrics: Metrics },
): Promise<RoutesInForce> => {
  const { config, metrics, providerKey, clock, logger } = options;
  const certifications = watchCertifications({ metrics, clock, logger });
  life.onStop('certifications of routes', certifications.stop);
  const meters = createForwardingMeters(metrics);
  const onLoad = (table: RouteTable): void => {
    certifications.follow(table);
    for (const { routeId } of table.certifications) meters.implausibleUsage.inc({ route: routeId }, 0);
  };
  const routes = await openRoutesFile({ file: config.ROUTES_FILE, providerKey, clock, logger, onLoad });
  life.onStop('routes file', routes.stop);
  return routes;
};

const tokenAuthenticators = ({ revocations, auth }: Connections, { config, clock, logger }: AppOptions) =>
  createTokenAuthenticators({
    publicBaseUrl: config.PUBLIC_BASE_URL,
    jwksUrl: config.JWKS_URL ?? `${config.AUTH_INTERNAL_URL}${contract.getJwks.path}`,
    revocations,
    auth,
    clock: () => new Date(clock()),
    logger,
  });

/** API keys are recognized by a prefix that no session token can have. */
const authenticators = (tokens: TokenAuthenticators, apiKey: Authenticate<ApiKeyCaller>): Authenticators => ({
  ...tokens,
  api_key: apiKey,
  session_or_api_key: (credential, presentation) =>
    credential.startsWith(apiKeyText.prefix) ? apiKey(credential) : tokens.console_session(credential, presentation),
});

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

const canQuery = async (database: Knex): Promise<boolean> =>
  database.raw('SELECT 1').then(
    () => true,
    () => false,
  );

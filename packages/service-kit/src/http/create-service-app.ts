import type { RequestListener } from 'node:http';
import { allInternalRoutes, type RouteDefinition, routes, routesOf, type ServiceName } from '@svc/contracts';
import { createServiceAuthenticator } from '../authentication/credentials.ts';
import type { Metrics } from '../create-metrics.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { IsUnavailable } from './answer-error.ts';
import type { StepUp } from './authorize.ts';
import type { Authenticators, Binding } from './binding.ts';
import { createApp, type Prepare, type Probe } from './create-app.ts';
import { sendJson } from './send-reply.ts';

export interface ServiceAppOptions {
  readonly service: ServiceName;
  readonly bindings: readonly Binding[];
  readonly authenticate: Authenticators;
  /** Required if a bound route has `stepUp`. */
  readonly stepUp?: StepUp;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** PUBLIC_BASE_URL. With https, responses carry Strict-Transport-Security. Challenges name the metadata below it. */
  readonly publicBaseUrl?: string;
  /** TRUST_PROXY_HOPS; default 1 (the ingress). */
  readonly trustProxyHops?: number;
  /** Checks every response against the contract; for development and tests. */
  readonly responseValidation?: boolean;
  /** Recognizes failures of dependencies, such as the database, which return 503 instead of 500. */
  readonly isUnavailable?: IsUnavailable;
  readonly prepare?: Prepare;
  readonly newRequestId?: () => string;
  /** The routes of the service; defaults to the contract's. */
  readonly contract?: readonly RouteDefinition[];
}

/**
 * Creates the public application of a service. Contract routes without a binding return 501 `not_implemented`. Throws
 * if a binding belongs to another service.
 */
export const createServiceApp = (options: ServiceAppOptions): RequestListener =>
  createApp({
    contract: options.contract ?? routesOf(options.service),
    bindings: options.bindings,
    authenticate: options.authenticate,
    stepUp: options.stepUp,
    logger: options.logger,
    metrics: options.metrics,
    trustProxyHops: options.trustProxyHops ?? 1,
    isHttps: options.publicBaseUrl?.startsWith('https:') ?? false,
    ...(options.publicBaseUrl === undefined
      ? {}
      : { resourceMetadataUrl: `${options.publicBaseUrl}${routes.getProtectedResourceMetadata.path}` }),
    responseValidation: options.responseValidation ?? false,
    isUnavailable: options.isUnavailable,
    prepare: options.prepare,
    ...(options.newRequestId === undefined ? {} : { newRequestId: options.newRequestId }),
  });

/** Lists the contract's routes of a service that have no binding, by operation id. */
export const listUnboundRoutes = (service: ServiceName, bindings: readonly Binding[]): string[] => {
  const bound = new Set(bindings.map(({ route }) => route.operationId));
  return routesOf(service)
    .map((route) => route.operationId)
    .filter((operationId) => !bound.has(operationId));
};

export interface InternalAppOptions {
  readonly service: ServiceName;
  readonly bindings: readonly Binding[];
  /** INTERNAL_API_TOKENS: the accepted credentials. */
  readonly tokens: readonly string[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Dependencies of the service by name. `/readyz` returns 503 if one is false, rejects or times out. */
  readonly ready: () => Promise<Readonly<Record<string, boolean>>>;
  /** Makes `/readyz` return 503 once the service stops, so that it gets no new requests. */
  readonly lifecycle?: { readonly isStopping: boolean };
  readonly responseValidation?: boolean;
  readonly isUnavailable?: IsUnavailable;
  readonly contract?: readonly RouteDefinition[];
}

const READY_TIMEOUT_MS = 2_000;

/** Creates the application of the internal port: `/healthz`, `/readyz`, `/metrics` and the internal routes. */
export const createInternalApp = (options: InternalAppOptions): RequestListener =>
  createApp({
    contract: options.contract ?? allInternalRoutes.filter((route) => route.service === options.service),
    bindings: options.bindings,
    authenticate: { service: createServiceAuthenticator(options.tokens) },
    logger: options.logger,
    metrics: options.metrics,
    trustProxyHops: 0,
    isHttps: false,
    responseValidation: options.responseValidation ?? false,
    isUnavailable: options.isUnavailable,
    probes: {
      '/healthz': answerHealth,
      '/readyz': answerReadiness(options),
      '/metrics': answerMetrics(options.metrics),
    },
  });

/** Checks no dependency, so that a broken database restarts no service. */
const answerHealth: Probe = (res) => {
  sendJson(res, 200, { status: 'ok' });
};

const answerReadiness =
  ({ ready, lifecycle }: InternalAppOptions): Probe =>
  async (res) => {
    if (lifecycle?.isStopping === true) {
      sendJson(res, 503, { status: 'stopping', checks: {} });
      return;
    }
    const checks = await withTimeout(Promise.resolve().then(ready));
    const isReady = Object.values(checks).every(Boolean);
    sendJson(res, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', checks });
  };

const withTimeout = async (
  checks: Promise<Readonly<Record<string, boolean>>>,
): Promise<Readonly<Record<string, boolean>>> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Record<string, boolean>>((resolve) => {
    timer = setTimeout(() => resolve({ checks_answered: false }), READY_TIMEOUT_MS);
  });
  return Promise.race([checks.catch(() => ({ checks_answered: false })), timeout]).finally(() => clearTimeout(timer));
};

const answerMetrics =
  (metrics: Metrics): Probe =>
  async (res) => {
    const { contentType, body } = await metrics.render();
    res.setHeader('Content-Type', contentType);
    res.end(body);
  };

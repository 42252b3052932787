import type { RequestListener } from 'node:http';
import { type RouteDefinition, routes, routesOf, type ServiceName } from '@svc/contracts';
import type { StepUp } from '../authentication/step-up.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import type { IsUnavailable } from './answer-error.ts';
import type { Authenticators, Binding } from './binding.ts';
import { createApp, type Prepare } from './create-app.ts';

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

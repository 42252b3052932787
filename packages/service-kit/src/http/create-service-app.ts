import type { RequestListener } from 'node:http';
import { type RouteDefinition, routes, routesOf, type ServiceName } from '@svc/contracts';
import type { Express, RequestHandler } from 'express';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import type { IsUnavailable } from './answer-error.ts';
import type { Authenticators, Binding } from './binding.ts';
import { createApp } from './create-app.ts';

/** How the public application of a service is made. */
export interface ServiceAppOptions {
  service: ServiceName;
  bindings: readonly Binding[];
  authenticate: Authenticators;
  logger: Logger;
  metrics: Metrics;
  /** PUBLIC_BASE_URL: with https, answers carry Strict-Transport-Security. Challenges name the metadata below it. */
  publicBaseUrl?: string;
  /** TRUST_PROXY_HOPS; 1 unless given: the ingress. */
  trustProxyHops?: number;
  /** Checks every answer against the contract; for development and tests. */
  responseValidation?: boolean;
  /** Recognises failures of what the service depends on, such as its database: those are 503 instead of 500. */
  isUnavailable?: IsUnavailable;
  /** Mounts what is not in the contract, after the bound routes and before 404. */
  mount?: (app: Express) => void;
  /** Runs before the routes: may change what a request asks for, as a stored request stands for another. */
  prepare?: RequestHandler;
  newRequestId?: () => string;
  /** The routes of the service; those of the contract unless a test brings its own. */
  contract?: readonly RouteDefinition[];
}

/**
 * Creates the public application of a service. Routes of the contract that no binding answers are 501 `not_implemented`.
 * Throws when a binding is not the service's own.
 */
export const createServiceApp = (options: ServiceAppOptions): RequestListener =>
  createApp({
    contract: options.contract ?? routesOf(options.service),
    bindings: options.bindings,
    authenticate: options.authenticate,
    logger: options.logger,
    metrics: options.metrics,
    trustProxyHops: options.trustProxyHops ?? 1,
    isHttps: options.publicBaseUrl?.startsWith('https:') ?? false,
    ...(options.publicBaseUrl === undefined
      ? {}
      : { resourceMetadataUrl: `${options.publicBaseUrl}${routes.getProtectedResourceMetadata.path}` }),
    responseValidation: options.responseValidation ?? false,
    isUnavailable: options.isUnavailable,
    mount: options.mount,
    prepare: options.prepare,
    ...(options.newRequestId === undefined ? {} : { newRequestId: options.newRequestId }),
  });

/** The contract's routes of a service that no binding answers, by operation id. */
export const listUnboundRoutes = (service: ServiceName, bindings: readonly Binding[]): string[] => {
  const bound = new Set(bindings.map(({ route }) => route.operationId));
  return routesOf(service)
    .map((route) => route.operationId)
    .filter((operationId) => !bound.has(operationId));
};

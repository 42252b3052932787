import type { RequestListener } from 'node:http';
import { allInternalRoutes, type RouteDefinition, type ServiceName } from '@svc/contracts';
import type { RequestHandler } from 'express';
import { createServiceAuthenticator } from '../authentication/service-credential.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import type { IsUnavailable } from './answer-error.ts';
import type { Binding } from './binding.ts';
import { createApp } from './create-app.ts';
import { stateOf } from './request-state.ts';
import { sendJson } from './send-reply.ts';

/** How the internal application of a service is made. */
export interface InternalAppOptions {
  service: ServiceName;
  bindings: readonly Binding[];
  /** INTERNAL_API_TOKENS: the accepted credentials. */
  tokens: readonly string[];
  logger: Logger;
  metrics: Metrics;
  /** What the service needs to serve, by name. One that is false, rejects or does not answer makes `/readyz` 503. */
  ready: () => Promise<Readonly<Record<string, boolean>>>;
  /** The lifecycle: once it stops, `/readyz` is 503 so that no new requests are sent here. */
  lifecycle?: { readonly isStopping: boolean };
  responseValidation?: boolean;
  /** As for the public application. */
  isUnavailable?: IsUnavailable;
  contract?: readonly RouteDefinition[];
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
    mount: (app) => {
      app.get('/healthz', asProbe('healthz'), answerHealth);
      app.get('/readyz', asProbe('readyz'), answerReadiness(options));
      app.get('/metrics', asProbe('metrics'), answerMetrics(options.metrics));
    },
  });

const asProbe =
  (name: string): RequestHandler =>
  (_req, res, next) => {
    const state = stateOf(res);
    if (state !== undefined) state.probe = name;
    next();
  };

/** The process turns: nothing else is asked, so that a broken database restarts no service. */
const answerHealth: RequestHandler = (_req, res) => {
  sendJson(res, 200, { status: 'ok' });
};

const answerReadiness =
  ({ ready, lifecycle }: InternalAppOptions): RequestHandler =>
  async (_req, res) => {
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
  (metrics: Metrics): RequestHandler =>
  async (_req, res) => {
    const { contentType, body } = await metrics.render();
    res.setHeader('Content-Type', contentType);
    res.end(body);
  };

import type { RequestListener, ServerResponse } from 'node:http';
import { isForWireClient, NOT_SERVED_MESSAGE, type RouteDefinition } from '@svc/contracts';
import { activeTracing } from '@svc/tracing';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { type AnswerError, createErrorMapper, type IsUnavailable } from './answer-error.ts';
import type { Binding } from './binding.ts';
import { areCrossOrigin, isCrossOrigin, isPreflight, preflightHeaders } from './cross-origin.ts';
import { createRequestOpener, type OpenRequestOptions } from './open-request.ts';
import { repeatsHost } from './repeats-host.ts';
import { type RequestState, stateOf } from './request-state.ts';
import {
  allowedMethods,
  createRouteTable,
  entriesNear,
  type PathEntry,
  shapeAt,
  shapeNear,
  toExpressPath,
} from './route-table.ts';
import { type ServeRouteOptions, serveRoute } from './serve-route.ts';
import { traceRequest } from './trace-request.ts';

export interface AppOptions extends OpenRequestOptions, ServeRouteOptions {
  readonly contract: readonly RouteDefinition[];
  readonly bindings: readonly Binding[];
  readonly logger: Logger;
  readonly isUnavailable?: IsUnavailable | undefined;
  /** Metadata URL in challenges for access tokens (RFC 9728). */
  readonly resourceMetadataUrl?: string | undefined;
  /** Mounts handlers outside the contract, after the bound routes and before 404, 405 and 501. */
  readonly mount: ((app: Express) => void) | undefined;
  /** Runs before the routes and may change the request, as pushed authorization requests do. */
  readonly prepare?: RequestHandler | undefined;
}

/** Builds an application: bound routes, mounts, then the responses for unknown paths and methods. */
export const createApp = (options: AppOptions): RequestListener => {
  const table = createRouteTable(options.contract, options.bindings);
  checkAuthenticators(options);
  const openRequest = createRequestOpener(options);
  const answerError = createErrorMapper(options);
  const app = createExpressApp(table, { ...options, openRequest, answerError });
  return (req, res) => {
    const tracing = activeTracing();
    if (tracing === undefined) app(req, res);
    else traceRequest(tracing, app, req, res);
  };
};

/** HEAD is served as GET without the body. */
const boundMethod = (method: string): string => (method === 'HEAD' ? 'GET' : method);

interface ExpressParts extends AppOptions {
  readonly openRequest: ReturnType<typeof createRequestOpener>;
  readonly answerError: AnswerError;
}

const createExpressApp = (table: readonly PathEntry[], options: ExpressParts): Express => {
  const { openRequest, answerError } = options;
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use((req, res, next) => {
    const state = openRequest(req, res);
    if (repeatsHost(req)) {
      state.errorShape = shapeAt(table, req.path);
      throw new AppError('repeated_host', undefined, { headers: { connection: 'close' } });
    }
    next();
  });
  if (options.prepare !== undefined) app.use(options.prepare);
  for (const entry of table) app.all(toExpressPath(entry.path), serveBound(entry, options));
  options.mount?.(app);
  for (const entry of table) app.all(toExpressPath(entry.path), answerUnbound(entry));
  app.use(answerUnknown(table));
  // Express recognizes an error handler by its four parameters.
  app.use(((thrown, req, res, _next) => {
    // The router could not decode the path, so no route has set the error shape.
    if (thrown instanceof URIError) requireState(res).errorShape = shapeNear(table, req.path);
    answerError(thrown, req, res);
  }) satisfies ErrorRequestHandler);
  return app;
};

/** Finds a missing authenticator or setting at start-up instead of at the first request. */
const checkAuthenticators = ({ bindings, authenticate, stepUp }: AppOptions): void => {
  for (const { route } of bindings) {
    if (route.stepUp === true && stepUp === undefined) throw new Error(`${route.operationId} requires stepUp`);
    if (route.caller === 'public' || route.caller === 'oauth_public') continue;
    if (authenticate[route.caller] === undefined) {
      throw new Error(`${route.operationId} requires an authenticator for ${route.caller}`);
    }
  }
};

const requireState = (res: ServerResponse): RequestState => {
  const state = stateOf(res);
  if (state === undefined) throw new Error('a request was served without its state');
  return state;
};

const serveBound = (entry: PathEntry, options: ServeRouteOptions): RequestHandler => {
  const [firstRoute] = entry.routes.values();
  const crossOrigin = isCrossOrigin(entry);
  return async (req, res, next) => {
    const state = requireState(res);
    const method = boundMethod(req.method);
    const route = entry.routes.get(method);
    if (route !== undefined) state.enter(route);
    else if (firstRoute !== undefined) state.errorShape = firstRoute.errorShape;
    state.isCrossOrigin = crossOrigin;
    const binding = entry.bindings.get(method);
    if (binding === undefined) next();
    else await serveRoute(binding, { req, res, state, params: req.params }, options);
  };
};

const answerUnbound = (entry: PathEntry): RequestHandler => {
  const allow = allowedMethods(entry);
  const preflight = isCrossOrigin(entry) ? preflightHeaders([entry]) : {};
  return (req, res) => {
    const route = entry.routes.get(boundMethod(req.method));
    if (route !== undefined)
      throw new AppError('not_implemented', `${route.operationId} is not available in this release.`);
    if (req.method === 'OPTIONS') {
      res.set({ Allow: allow, ...(isPreflight(req) ? preflight : {}) });
      res.status(204).end();
      return;
    }
    throw new AppError('method_not_allowed', undefined, { headers: { allow } });
  };
};

const answerUnknown =
  (table: readonly PathEntry[]): RequestHandler =>
  (req, res) => {
    const state = requireState(res);
    const near = entriesNear(table, req.path);
    state.isCrossOrigin = areCrossOrigin(near);
    if (state.isCrossOrigin && isPreflight(req)) {
      res.set(preflightHeaders(near)).status(204).end();
      return;
    }
    state.errorShape = isForWireClient(req.path, req.headers.authorization) ? 'wire' : shapeNear(table, req.path);
    const message = state.errorShape === 'wire' ? NOT_SERVED_MESSAGE : 'There is nothing at this path.';
    throw new AppError('not_found', message);
  };

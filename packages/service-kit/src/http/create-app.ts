import type { RouteDefinition } from '@svc/contracts';
import express, { type Express, type RequestHandler, type Response } from 'express';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { createErrorHandler } from './answer-error.ts';
import type { Binding } from './binding.ts';
import { type OpenRequestOptions, openRequest } from './open-request.ts';
import { type RequestState, stateOf } from './request-state.ts';
import { allowedMethods, createRouteTable, type PathEntry, shapeNear, toExpressPath } from './route-table.ts';
import { type ServeRouteOptions, serveRoute } from './serve-route.ts';

/** What both kinds of application are made of. */
export interface AppOptions extends OpenRequestOptions, ServeRouteOptions {
  contract: readonly RouteDefinition[];
  bindings: readonly Binding[];
  logger: Logger;
  /** Mounts what is not in the contract, after the bound routes and before 404, 405 and 501. */
  mount: ((app: Express) => void) | undefined;
  /** Runs before the routes: may change what a request asks for, as a stored request stands for another. */
  prepare?: RequestHandler | undefined;
}

/** Builds the Express application: bound routes, mounts, then the answers for everything else. */
export const createApp = (options: AppOptions): Express => {
  const table = createRouteTable(options.contract, options.bindings);
  checkAuthenticators(options);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(openRequest(options));
  if (options.prepare !== undefined) app.use(options.prepare);
  for (const entry of table) app.all(toExpressPath(entry.path), serveBound(entry, options));
  options.mount?.(app);
  for (const entry of table) app.all(toExpressPath(entry.path), answerUnbound(entry));
  app.use(answerUnknown(table));
  app.use(createErrorHandler(options.logger));
  return app;
};

/** A missing authenticator is found at start, not at the first request. */
const checkAuthenticators = ({ bindings, authenticate }: AppOptions): void => {
  for (const { route } of bindings) {
    if (route.caller === 'public' || route.caller === 'oauth_public') continue;
    if (authenticate[route.caller] === undefined) {
      throw new Error(`${route.operationId} wants an authenticator for ${route.caller}`);
    }
  }
};

const requireState = (res: Response): RequestState => {
  const state = stateOf(res);
  if (state === undefined) throw new Error('a request was served without its state');
  return state;
};

const serveBound = (entry: PathEntry, options: ServeRouteOptions): RequestHandler => {
  const [firstRoute] = entry.routes.values();
  return async (req, res, next) => {
    const state = requireState(res);
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const route = entry.routes.get(method);
    if (route !== undefined) state.enter(route);
    else if (firstRoute !== undefined) state.errorShape = firstRoute.errorShape;
    const binding = entry.bindings.get(method);
    if (binding === undefined) next();
    else await serveRoute(binding, { req, res, state }, options);
  };
};

const answerUnbound = (entry: PathEntry): RequestHandler => {
  const allow = allowedMethods(entry);
  return (req, res) => {
    const route = entry.routes.get(req.method === 'HEAD' ? 'GET' : req.method);
    if (route !== undefined)
      throw new AppError('not_implemented', `${route.operationId} is not available in this release.`);
    if (req.method === 'OPTIONS') {
      res.setHeader('Allow', allow);
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
    state.errorShape = shapeNear(table, req.path);
    throw new AppError('not_found', 'There is nothing at this path.');
  };

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isForMessagesClient, isForWireClient, notServedMessage, type RouteDefinition } from '@svc/contracts';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { type AnswerError, createErrorMapper, type IsUnavailable } from './answer-error.ts';
import type { Binding, ReplyContent } from './binding.ts';
import { areCrossOrigin, isPreflight, preflightHeaders } from './default-headers.ts';
import { createRequestOpener, type OpenRequestOptions } from './open-request.ts';
import { findHeadFault, followsRefusedHead } from './request-head.ts';
import { type RequestState, stateOf } from './request-state.ts';
import {
  allowedMethods,
  createRouteMatcher,
  createRouteTable,
  entriesNear,
  type PathEntry,
  type RouteMatch,
  shapeNear,
} from './route-table.ts';
import { sendReply } from './send-reply.ts';
import { type ServeRouteOptions, serveRoute } from './serve-route.ts';
import { traceRequest } from './trace-request.ts';

/** RFC 9112 section 3.2.2: scheme, authority, and the rest of the target. Only the authority may be without a path. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#@]+)(?=[/?]|$)(.*)$/is;

/**
 * Rewrites a target in absolute form to origin form, in place. The authority of the target replaces the `Host` header.
 * Other targets stay as they are.
 */
export const toOriginForm = (req: IncomingMessage): void => {
  const { url = '' } = req;
  if (url.startsWith('/')) return;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  if (authority === undefined) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  req.headers.host = authority;
};

export interface AppOptions extends OpenRequestOptions, ServeRouteOptions {
  readonly contract: readonly RouteDefinition[];
  readonly bindings: readonly Binding[];
  readonly logger: Logger;
  readonly isUnavailable?: IsUnavailable | undefined;
  /** Metadata URL in challenges for access tokens (RFC 9728). */
  readonly resourceMetadataUrl?: string | undefined;
  /** Handlers of GET for monitoring, which are no part of the contract, by path. */
  readonly probes?: Readonly<Record<string, Probe>> | undefined;
  readonly prepare?: Prepare | undefined;
}

/** Answers a probe of the process. */
export type Probe = (res: ServerResponse) => void | Promise<void>;

/** Runs before the route is looked up and may change the request. Resolves to a reply if it refuses the request. */
export type Prepare = (req: IncomingMessage) => Promise<ReplyContent | undefined> | undefined;

/** Builds an application: bound routes, probes, then the responses for unknown paths and methods. */
export const createApp = (options: AppOptions): RequestListener => {
  const table = createRouteTable(options.contract, options.bindings);
  checkAuthenticators(options);
  const openRequest = createRequestOpener(options);
  const answerError = createErrorMapper(options);
  const app = createExpressApp(table, { ...options, openRequest, answerError });
  return (req, res) => {
    if (followsRefusedHead(req)) return;
    toOriginForm(req);
    traceRequest(app, req, res);
  };
};

/** HEAD is served as GET without the body. */
const boundMethod = (method: string): string => (method === 'HEAD' ? 'GET' : method);

interface ExpressParts extends AppOptions {
  readonly openRequest: ReturnType<typeof createRequestOpener>;
  readonly answerError: AnswerError;
}

/** Express carries one handler, which looks each request up in the table once, and one for its errors. */
const createExpressApp = (table: readonly PathEntry[], options: ExpressParts): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.use(createDispatcher(table, options));
  // Express recognizes an error handler by its four parameters.
  app.use(((thrown, req, res, _next) => {
    // A parameter could not be decoded, so no route has set the error shape.
    if (thrown instanceof URIError) requireState(res).errorShape = shapeNear(table, req.path);
    options.answerError(thrown, req, res);
  }) satisfies ErrorRequestHandler);
  return app;
};

/** Not async: a refusal is answered before the parser reads what follows it, which may be no HTTP. */
const createDispatcher = (table: readonly PathEntry[], options: ExpressParts) => {
  const match = createRouteMatcher(table);
  const { openRequest, prepare } = options;
  const serve = (dispatched: Dispatched) => serveMatch(match(dispatched.req.path), { table, ...dispatched }, options);
  return (req: Request, res: Response): void | Promise<void> => {
    const state = openRequest(req, res);
    const fault = findHeadFault(req);
    if (fault !== undefined) {
      const [route] = match(req.path)?.entry.routes.values() ?? [];
      state.errorShape = route?.errorShape ?? shapeNear(table, req.path);
      throw new AppError(fault, undefined, { headers: { connection: 'close' } });
    }
    const prepared = prepare?.(req);
    if (prepared === undefined) return serve({ req, res, state });
    return prepared.then((refusal) => {
      if (refusal === undefined) return serve({ req, res, state });
      sendReply(res, refusal);
    });
  };
};

interface Dispatched {
  readonly req: Request;
  readonly res: Response;
  readonly state: RequestState;
}

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

const serveMatch = (
  found: RouteMatch | undefined,
  { table, ...dispatched }: Dispatched & { readonly table: readonly PathEntry[] },
  options: AppOptions,
): void | Promise<void> => {
  if (found !== undefined) return serveFound(found, dispatched, options);
  const { req, res, state } = dispatched;
  const { probes = {} } = options;
  const probe = boundMethod(req.method) === 'GET' && Object.hasOwn(probes, req.path) ? probes[req.path] : undefined;
  if (probe === undefined) return answerUnknown(table, dispatched);
  state.probe = req.path.slice(1);
  return probe(res);
};

const serveFound = (
  { entry, readParams }: RouteMatch,
  { req, res, state }: Dispatched,
  options: ServeRouteOptions,
): void | Promise<void> => {
  const params = readParams();
  const method = boundMethod(req.method);
  const route = entry.routes.get(method);
  state.isCrossOrigin = entry.isCrossOrigin;
  if (route !== undefined) {
    state.enter(route);
    const binding = entry.bindings.get(method);
    if (binding !== undefined) return serveRoute(binding, { req, res, state, params }, options);
    throw new AppError('not_implemented', `${route.operationId} is not available in this release.`);
  }
  const [firstRoute] = entry.routes.values();
  if (firstRoute !== undefined) state.errorShape = firstRoute.errorShape;
  const allow = allowedMethods(entry);
  if (req.method !== 'OPTIONS') throw new AppError('method_not_allowed', undefined, { headers: { allow } });
  const preflight = entry.isCrossOrigin && isPreflight(req) ? preflightHeaders([entry]) : {};
  res.set({ Allow: allow, ...preflight });
  res.status(204).end();
};

const answerUnknown = (table: readonly PathEntry[], { req, res, state }: Dispatched): void => {
  const { path } = req;
  const near = entriesNear(table, path);
  state.isCrossOrigin = areCrossOrigin(near);
  if (state.isCrossOrigin && isPreflight(req)) {
    res.set(preflightHeaders(near)).status(204).end();
    return;
  }
  state.errorShape = isForWireClient(path, req.headers.authorization) ? 'wire' : shapeNear(table, path);
  const message = state.errorShape === 'wire' ? notServedMessage(path) : 'There is nothing at this path.';
  throw new AppError('not_found', message, { details: isForMessagesClient(path) ? { envelope: 'messages' } : {} });
};

import type { RouteDefinition } from '@svc/contracts';
import type { Request, Response } from 'express';
import { AppError, invalidRequest } from '../app-error.ts';
import { authorize } from './authorize.ts';
import { type Authenticators, type Binding, type CheckedRequest, HANDLED, type Reply } from './binding.ts';
import { checkReply } from './check-reply.ts';
import { parseBody } from './parse-body.ts';
import type { RequestState } from './request-state.ts';
import { sendReply } from './send-reply.ts';
import { checkParts } from './validate.ts';

/** What serving a bound route needs. */
export interface ServeRouteOptions {
  authenticate: Authenticators;
  responseValidation: boolean;
}

/** One request through its route: authorization, then media type and size, then all faults at once, then the handler. */
export const serveRoute = async (
  binding: Binding,
  exchange: { req: Request; res: Response; state: RequestState },
  options: ServeRouteOptions,
): Promise<void> => {
  const { req, res, state } = exchange;
  const { route } = binding;
  const caller = await authorize(route, options.authenticate, req);
  state.callerKind = caller.kind;
  const body = await parseBody(route, req);
  const parts = checkParts(route, { params: req.params, search: searchOf(req), headers: req.headers });
  const issues = body.ok ? parts.issues : [...parts.issues, ...body.issues];
  if (issues.length > 0) throw invalidRequest(issues);
  const reply = await binding.handle({
    params: parts.params,
    query: parts.query,
    headers: parts.headers,
    body: body.ok ? body.value : undefined,
    caller,
    requestId: state.requestId,
    clientAddress: state.clientAddress,
    req,
    res,
    signal: callerGone(res),
    get log() {
      return state.log;
    },
  } satisfies CheckedRequest);
  finish(route, res, reply, options.responseValidation);
};

const finish = (route: RouteDefinition, res: Response, reply: Reply, responseValidation: boolean): void => {
  if (reply === HANDLED || res.destroyed) return;
  if (res.headersSent) throw new AppError('internal_error', undefined, { cause: new Error('answered twice') });
  if (responseValidation) checkReply(route, reply);
  sendReply(res, reply);
};

const searchOf = (req: Request): string => {
  const at = req.url.indexOf('?');
  return at < 0 ? '' : req.url.slice(at + 1);
};

const callerGone = (res: Response): AbortSignal => {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
};

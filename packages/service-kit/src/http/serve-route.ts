import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RouteDefinition } from '@svc/contracts';
import { AppError, invalidRequest } from '../app-error.ts';
import { type Act, actOf } from './act.ts';
import { auditRequest } from './audit-request.ts';
import { type AuthorizeOptions, authorize } from './authorize.ts';
import { type Binding, HANDLED, type Reply, type ReplyContent } from './binding.ts';
import { checkReply } from './check-reply.ts';
import { compressReply } from './compress-reply.ts';
import { HandledRequest } from './handled-request.ts';
import { parseBody } from './parse-body.ts';
import type { RequestState } from './request-state.ts';
import { sendReply } from './send-reply.ts';
import { checkParts } from './validate.ts';

export interface ServeRouteOptions extends AuthorizeOptions {
  readonly responseValidation: boolean;
}

/** One request and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly state: RequestState;
  /** Values of the path's parameters. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** Serves one request: authorization, media type and size, all faults at once, then the handler. */
export const serveRoute = async (binding: Binding, exchange: Exchange, options: ServeRouteOptions): Promise<void> => {
  const { req, res, state } = exchange;
  const { route } = binding;
  const caller = await authorize(route, options, req);
  state.caller = caller;
  state.audit = auditRequest(route, caller, exchange);
  const body = await parseBody(route, req);
  const parts = checkParts(route, { params: exchange.params, search: searchOf(req), headers: req.headers });
  const issues = body.ok ? parts.issues : [...parts.issues, ...body.issues];
  if (issues.length > 0) {
    const refusal = binding.answerInvalid?.(issues, req);
    if (refusal === undefined) throw invalidRequest(issues);
    sendReply(res, refusal);
    return;
  }
  const { params, query, headers } = parts;
  const value = body.ok ? body.value : undefined;
  const act = actOf(route, caller);
  const request = new HandledRequest({ params, query, headers, body: value, caller, act, req, res, state });
  const reply = await binding.handle(request);
  await finish(reply, { route, act, req, res }, options.responseValidation);
};

const finish = async (
  reply: Reply,
  {
    route,
    act,
    req,
    res,
  }: Pick<Exchange, 'req' | 'res'> & { readonly route: RouteDefinition; readonly act: Act | undefined },
  responseValidation: boolean,
): Promise<void> => {
  if (reply === HANDLED || res.destroyed) return;
  if (res.headersSent) throw new AppError('internal_error', undefined, { cause: new Error('answered twice') });
  if (responseValidation) checkReply(route, reply, act);
  const location = locationOf(route, reply);
  if (location !== undefined) res.setHeader('location', location);
  const sent = await compressReply(reply, { route, req });
  if (!res.destroyed) sendReply(res, sent);
};

/** Returns the address of what the request created (RFC 9110 section 15.3.2), with the fields of the body filled in. */
const locationOf = (route: RouteDefinition, { status, body }: ReplyContent): string | undefined => {
  const fields = new Map(Object.entries(body ?? {}));
  return route.responses[status]?.location?.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(fields.get(name))),
  );
};

const searchOf = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ResponseDefinition, RouteDefinition } from '@svc/contracts';
import { AppError, invalidRequest } from '../app-error.ts';
import { roleNotAllowed } from '../authentication/memberships.ts';
import { auditRequest } from './audit-request.ts';
import { type AuthorizeOptions, authorize } from './authorize.ts';
import { type Act, actOf, type Binding, HANDLED, type Reply, type ReplyContent } from './binding.ts';
import { HandledRequest } from './handled-request.ts';
import { parseBody } from './parse-body.ts';
import type { RequestState } from './request-state.ts';
import { sendReply } from './send-reply.ts';
import { checkParts } from './validate.ts';

/** Returns the encodings that a client names and does not refuse, in lower case (RFC 9110 §12.5.3, weights ignored). */
export const acceptedEncodings = (header: string | undefined): ReadonlySet<string> =>
  new Set(
    (header ?? '')
      .split(',')
      .map((item) => item.trim().toLowerCase())
      .filter((item) => !/;\s*q=0(\.0*)?$/.test(item))
      .map((item) => item.split(';', 1)[0] ?? ''),
  );

const compress = promisify(gzip);

/** Smaller bodies fit into one packet, compressed or not. */
const BODY_CHARACTERS_MIN = 1_400;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Compresses the bodies that browsers read, on a thread of the pool. Returns every other reply unchanged. */
const compressReply = async (
  reply: ReplyContent,
  { route, req }: { readonly route: RouteDefinition; readonly req: IncomingMessage },
): Promise<ReplyContent> => {
  if (!isForBrowsers(route)) return reply;
  const { status, body, contentType = JSON_TYPE, headers = {} } = reply;
  const text = reply.contentType === undefined ? JSON.stringify(body) : body;
  if (typeof text !== 'string' || text.length < BODY_CHARACTERS_MIN) return reply;
  const varying = { ...headers, vary: [headers['vary'], 'Accept-Encoding'].filter(Boolean).join(', ') };
  if (!acceptedEncodings(req.headers['accept-encoding']).has('gzip')) return { ...reply, headers: varying };
  const bytes = await compress(text);
  return { status, contentType, body: bytes, headers: { ...varying, 'content-encoding': 'gzip' } };
};

/**
 * Returns true for what browsers read by the session's token or without any credential. The authorize page stays
 * uncompressed: it repeats the app's request beside the person's address, which its length would then betray (BREACH).
 * So do programs' replies, for which a byte less is not worth the time.
 */
const isForBrowsers = ({ method, caller }: RouteDefinition): boolean =>
  method === 'GET' && (caller === 'console_session' || caller === 'public');

/** A response that breaks its contract. The message names the offending fields, never their values. */
class BrokenReply extends Error {
  readonly code = 'reply_breaks_contract';

  constructor(route: RouteDefinition, violations: readonly string[]) {
    super(`the response of ${route.operationId} breaks its contract: ${violations.join('; ')}`);
    this.name = 'BrokenReply';
  }
}

/**
 * Checks the serialized response against the contract, and that the act of the request was recorded. Throws
 * `internal_error` caused by BrokenReply.
 */
const checkReply = (route: RouteDefinition, reply: ReplyContent, act?: Act): void => {
  const violations = [...violationsOf(route, reply), ...unrecordedAct(reply, act)];
  if (violations.length > 0)
    throw new AppError('internal_error', undefined, { cause: new BrokenReply(route, violations) });
};

const unrecordedAct = ({ status }: ReplyContent, act: Act | undefined): string[] =>
  act !== undefined && !act.isRecorded && status < 400 ? [`${act.action} is not in the audit log`] : [];

const violationsOf = (route: RouteDefinition, reply: ReplyContent): string[] => {
  const response = route.responses[reply.status];
  if (response === undefined) return [`status ${reply.status} is not in it`];
  if (response.schema === undefined) return reply.body === undefined ? [] : [`status ${reply.status} has no body`];
  if (reply.contentType !== undefined && !reply.contentType.startsWith('application/json')) return [];
  if (reply.body === undefined) return [`status ${reply.status} has a body`];
  const wire: unknown = JSON.parse(JSON.stringify(reply.body));
  const result = jsonSchemaOf(response, response.schema).safeParse(wire);
  if (result.success) return [];
  return result.error.issues.map((issue) => `${issue.path.map(String).join('.') || '(root)'}: ${issue.code}`);
};

/** A status that usually returns a page may also have a JSON alternative. */
const jsonSchemaOf = <S>({ alternatives }: ResponseDefinition, schema: S) =>
  alternatives?.['application/json'] ?? schema;

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
  const caller = await authorize(route, options, req).catch(async (error) => {
    throw await nameRoleOfBody(error, route, req);
  });
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

/** Returns the refusal of a role, with the role that the body needs where that is greater than the role of the route. */
const nameRoleOfBody = async (error: unknown, route: RouteDefinition, req: IncomingMessage): Promise<unknown> => {
  if (route.roleOfBody === undefined || !(error instanceof AppError) || error.code !== 'role_not_allowed') return error;
  const body = await parseBody(route, req).catch(() => undefined);
  const need = body?.ok === true ? route.roleOfBody(body.value) : undefined;
  return need === undefined ? error : roleNotAllowed(need);
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

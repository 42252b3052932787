import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallerKind, InternalCaller, RouteDefinition, ValidationIssue } from '@svc/contracts';
import type { z } from 'zod';
import type { Logger } from '../logging/create-logger.ts';

/** Nobody in particular: the route wants no credential. */
export interface PublicCaller {
  kind: 'public';
}

/** A signed-in person. */
export interface ConsoleSessionCaller {
  kind: 'console_session';
  userId: string;
  sessionId: string;
  accountType: 'personal' | 'business';
  /** When the token ends. */
  expiresAt: Date;
}

/** An app that acts for a user. */
export interface AccessTokenCaller {
  kind: 'oauth_access_token';
  userId: string;
  clientId: string;
  grantId: string;
  scopes: ReadonlySet<string>;
  tokenId: string;
  /** When the token ends. */
  expiresAt: Date;
  /** Thumbprint of the key that the token is bound to (RFC 9449 section 6.1); its holder has proved to have it. */
  keyThumbprint?: string;
}

/** The holder of an API key; made by the gateway's own authenticator. */
export interface ApiKeyCaller {
  kind: 'api_key';
  keyId: string;
  userId: string;
  requestsPerMinute?: number | null;
  tokensPerMinute?: number | null;
  monthlyLimitMicros?: number | null;
  /** Models that the key may use; null for all. */
  models?: readonly string[] | null;
}

/** A service of the product, or the operator's command line. */
export interface ServiceCaller {
  kind: 'service';
  name: InternalCaller;
}

/** Who calls. */
export type Caller = PublicCaller | ConsoleSessionCaller | AccessTokenCaller | ApiKeyCaller | ServiceCaller;

interface CallersByKind {
  public: PublicCaller;
  oauth_public: PublicCaller;
  console_session: ConsoleSessionCaller;
  oauth_access_token: AccessTokenCaller;
  api_key: ApiKeyCaller;
  service: ServiceCaller;
}

/** The caller of a route, by the kind that its contract names. */
export type CallerOf<R extends RouteDefinition> = CallersByKind[R['caller']];

/** How a credential was presented, for those that are bound to a key and to the request (RFC 9449 section 7.1). */
export interface Presentation {
  scheme: 'Bearer' | 'DPoP';
  method: string;
  /** The request's path, without its query. */
  path: string;
  /** The `DPoP` header; undefined where there is none. */
  proof: string | undefined;
}

/**
 * Turns a credential into a caller. Throws AppError `invalid_token` (or `invalid_api_key`) for one that is unknown,
 * expired or revoked, and kind `unavailable` where that cannot be decided. Without a presentation it is a bearer credential.
 */
export type Authenticate<C extends Caller> = (credential: string, presentation?: Presentation) => Promise<C>;

/** How each kind of caller is authenticated; a service gives those that its routes want. */
export type Authenticators = {
  [K in Exclude<CallerKind, 'public' | 'oauth_public'>]?: Authenticate<CallersByKind[K]>;
};

type Output<S> = S extends z.ZodType ? z.output<S> : Readonly<Record<string, never>>;

type BodyOf<B> = B extends { raw: true }
  ? undefined
  : B extends { schema: infer S extends z.ZodType; required: infer Q }
    ? [Q] extends [false]
      ? z.output<S> | undefined
      : z.output<S>
    : undefined;

/** Everything that a handler is given. */
export interface RequestContext<R extends RouteDefinition> {
  params: Output<R['request']['params']>;
  query: Output<R['request']['query']>;
  headers: Output<R['request']['headers']>;
  /** Parsed by the contract's schema; undefined on raw routes, and where an optional body is absent. */
  body: BodyOf<R['request']['body']>;
  caller: CallerOf<R>;
  requestId: string;
  clientAddress: string;
  req: IncomingMessage;
  res: ServerResponse;
  /** Aborts when the caller goes away before the answer is complete. */
  signal: AbortSignal;
  /** Adds request id and operation to every line. */
  log: Logger;
}

/** Returned by a handler that has written, or is still writing, to `res` itself. */
export const HANDLED: unique symbol = Symbol('handled');

/** An answer. A body is sent as JSON unless it is a string or bytes with a `contentType`. */
export interface ReplyContent {
  status: number;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  contentType?: string;
}

/** What a handler returns. */
export type Reply = ReplyContent | typeof HANDLED;

/** A request that the factory has checked against the route's schemas. */
export type CheckedRequest = Omit<
  RequestContext<RouteDefinition>,
  'params' | 'query' | 'headers' | 'body' | 'caller'
> & {
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  caller: Caller;
};

/** Answers a request whose path, query, headers or body are invalid; undefined: with the 422 of the contract. */
export type AnswerInvalid = (issues: readonly ValidationIssue[], req: IncomingMessage) => ReplyContent | undefined;

/** A contract route and what answers it. */
export interface Binding {
  route: RouteDefinition;
  handle: (request: CheckedRequest) => Promise<Reply>;
  answerInvalid?: AnswerInvalid | undefined;
}

/** Binds a contract route to its handler, typed by the contract. */
export const bind = <R extends RouteDefinition>(
  route: R,
  handler: (context: RequestContext<R>) => Promise<Reply>,
  answerInvalid?: AnswerInvalid,
): Binding => ({
  route,
  answerInvalid,
  // The factory calls this only with what it has parsed by this route's own schemas, and with the caller its kind demands.
  handle: (request) => handler(request as unknown as RequestContext<R>),
});

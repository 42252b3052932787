import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  ActSource,
  AuditAction,
  CallerKind,
  InternalCaller,
  Locale,
  ManagementScope,
  Role,
  RouteDefinition,
  ValidationIssue,
} from '@svc/contracts';
import type { z } from 'zod';
import type { Logger } from '../logging/create-logger.ts';

/** Caller of a route that requires no credential. */
export interface PublicCaller {
  readonly kind: 'public';
}

/** Organization that a person acts for, and as what. */
export interface ActingFor {
  /** `svc_user_id` of the business account. */
  readonly id: string;
  readonly role: Role;
  /** Null for a token that names no membership: that of a business account for itself. */
  readonly membershipId: string | null;
  /** Version of the membership at which the role was read. */
  readonly version: number;
}

/** A signed-in person. */
export interface ConsoleSessionCaller {
  readonly kind: 'console_session';
  /** Account that the request concerns: the organization that the person acts for, or the person on routes about persons. */
  readonly userId: string;
  /** The signed-in person. */
  readonly personId: string;
  /** Null for a personal account that acts for itself. */
  readonly organization: ActingFor | null;
  readonly sessionId: string;
  readonly accountType: 'personal' | 'business';
  /** Last time that the person proved who they are: at sign-in, or again since then. */
  readonly authenticatedAt: Date;
  /** The operator requires a confirmed address and this account has none. */
  readonly isEmailUnverified?: boolean;
  /** Language of the account when the token was issued. */
  readonly locale?: Locale;
  /** Expiry of the token. */
  readonly expiresAt: Date;
}

/** A program that acts for an account, within the scopes of its management key. */
export interface ManagementKeyCaller {
  readonly kind: 'management_key';
  readonly keyId: string;
  readonly userId: string;
  /** Person who created the key. */
  readonly personId: string;
  /** Session that created the key. What the key creates ends with what that session has created. */
  readonly sessionId: string;
  readonly accountType: 'personal' | 'business';
  readonly isEmailUnverified: boolean;
  readonly scopes: ReadonlySet<ManagementScope>;
  readonly expiresAt: Date | null;
}

/** An app acting for a user. */
export interface AccessTokenCaller {
  readonly kind: 'oauth_access_token';
  readonly userId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly scopes: ReadonlySet<string>;
  readonly tokenId: string;
  /** Expiry of the token. */
  readonly expiresAt: Date;
  /** Thumbprint of the key that the token is bound to (RFC 9449 section 6.1); the caller has proved possession. */
  readonly keyThumbprint?: string;
}

/** An app acting for itself. */
export interface ClientCredentialsCaller {
  readonly kind: 'client_credentials';
  readonly clientId: string;
}

/** The holder of an API key. The gateway's authenticator creates it. */
export interface ApiKeyCaller {
  readonly kind: 'api_key';
  readonly keyId: string;
  readonly userId: string;
  /** Person who created the key. */
  readonly creatorId?: string;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly monthlyLimitMicros?: number | null;
  /** Models that the key may use; null for all. */
  readonly models?: readonly string[] | null;
}

/** A service of the product, or the operator's command line. */
export interface ServiceCaller {
  readonly kind: 'service';
  readonly name: InternalCaller;
}

export type Caller =
  | PublicCaller
  | ConsoleSessionCaller
  | ManagementKeyCaller
  | AccessTokenCaller
  | ClientCredentialsCaller
  | ApiKeyCaller
  | ServiceCaller;

interface CallersByKind {
  readonly public: PublicCaller;
  readonly oauth_public: PublicCaller;
  readonly console_session: ConsoleSessionCaller;
  readonly oauth_access_token: AccessTokenCaller;
  readonly client_credentials: ClientCredentialsCaller;
  readonly api_key: ApiKeyCaller;
  readonly session_or_api_key: ConsoleSessionCaller | ApiKeyCaller;
  readonly service: ServiceCaller;
}

/** The caller of a route, by the kind in its contract, or a management key where it accepts one. */
export type CallerOf<R extends RouteDefinition> =
  | CallersByKind[R['caller']]
  | (R['managementScope'] extends ManagementScope ? ManagementKeyCaller : never);

/** Presentation of a credential that may be bound to a key and to the request (RFC 9449 section 7.1). */
export interface Presentation {
  readonly scheme: 'Bearer' | 'DPoP' | 'Basic';
  readonly method: string;
  /** Path of the request, without the query. */
  readonly path: string;
  /** The `DPoP` header, if present. */
  readonly proof: string | undefined;
}

/**
 * Resolves a credential to a caller. Throws AppError `invalid_token` (or `invalid_api_key`) if it is unknown, expired
 * or revoked, and kind `unavailable` if that cannot be decided. Without a presentation it is a bearer credential.
 */
export type Authenticate<C extends Caller> = (credential: string, presentation?: Presentation) => Promise<C>;

/**
 * Authenticators by kind of caller. A service provides those that its routes require. A management key stands in for a
 * session; the route decides whether it may.
 */
export type Authenticators = {
  [K in Exclude<CallerKind, 'public' | 'oauth_public'>]?: Authenticate<
    CallersByKind[K] | (ConsoleSessionCaller extends CallersByKind[K] ? ManagementKeyCaller : never)
  >;
};

type Output<S> = S extends z.ZodType ? z.output<S> : Readonly<Record<string, never>>;

type BodyOf<B> = B extends { raw: true }
  ? undefined
  : B extends { schema: infer S extends z.ZodType; required: infer Q }
    ? [Q] extends [false]
      ? z.output<S> | undefined
      : z.output<S>
    : undefined;

/** The act of a route, where its contract names one. */
export type ActOf<R extends RouteDefinition> = R['audit'] extends string ? Act : undefined;

/** Input of a handler. */
export interface RequestContext<R extends RouteDefinition> {
  readonly params: Output<R['request']['params']>;
  readonly query: Output<R['request']['query']>;
  readonly headers: Output<R['request']['headers']>;
  /** Parsed by the contract's schema; undefined on raw routes, or if an optional body is absent. */
  readonly body: BodyOf<R['request']['body']>;
  readonly caller: CallerOf<R>;
  /** For the audit log: to be recorded in the transaction of the act. */
  readonly act: ActOf<R>;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Aborts if the caller disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Adds request id and operation to every line. */
  readonly log: Logger;
  /** Lists the requests of a batch in the log line of this one. */
  readonly nameRequests: (requestIds: readonly string[]) => void;
}

/** Returned by a handler that writes to `res` itself. */
export const HANDLED: unique symbol = Symbol('handled');

/** A response. The body is sent as JSON unless it is a string or bytes with a `contentType`. */
export interface ReplyContent {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
}

export type Reply = ReplyContent | typeof HANDLED;

/** A request that has passed the route's schemas. */
export type CheckedRequest = Omit<
  RequestContext<RouteDefinition>,
  'params' | 'query' | 'headers' | 'body' | 'caller' | 'act'
> & {
  act: Act | undefined;
  params: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  caller: Caller;
};

/** Answers a request with invalid path, query, headers or body. If undefined, the contract's 422 is sent. */
export type AnswerInvalid = (issues: readonly ValidationIssue[], req: IncomingMessage) => ReplyContent | undefined;

/** A contract route and its handler. */
export interface Binding {
  readonly route: RouteDefinition;
  readonly handle: (request: CheckedRequest) => Promise<Reply>;
  readonly answerInvalid?: AnswerInvalid | undefined;
}

/** Binds a contract route to its handler, typed by the contract. */
export const bind = <R extends RouteDefinition>(
  route: R,
  handler: (context: RequestContext<R>) => Promise<Reply>,
  answerInvalid?: AnswerInvalid,
): Binding => ({
  route,
  answerInvalid,
  // The request was parsed by this route's schemas, and the caller is of the route's kind.
  handle: (request) => handler(request as unknown as RequestContext<R>),
});

/**
 * An act that a route performs, which the audit log holds. The handler passes it to `recordAct` of `@svc/database`
 * within the transaction of the act. Where responses are validated, an answer without that is refused.
 */
export class Act {
  readonly action: AuditAction;
  /** Organization in whose log the act stands; null for that of a personal account, which has none. */
  readonly organizationId: string | null;
  /** Null for an operator. */
  readonly actorId: string | null;
  readonly source: ActSource;
  isRecorded = false;

  constructor(
    action: AuditAction,
    { organizationId, actorId, source }: Pick<Act, 'organizationId' | 'actorId' | 'source'>,
  ) {
    this.action = action;
    this.organizationId = organizationId;
    this.actorId = actorId;
    this.source = source;
  }

  /** Says that the request changed nothing, so that there is nothing to record. */
  changedNothing(): void {
    this.isRecorded = true;
  }
}

/** Returns the act of a request; undefined on a route that performs none. */
export const actOf = ({ audit }: RouteDefinition, caller: Caller): Act | undefined => {
  if (audit == null || (caller.kind !== 'console_session' && caller.kind !== 'management_key')) return undefined;
  const organization = caller.kind === 'console_session' ? caller.organization : null;
  const businessId = caller.accountType === 'business' ? caller.userId : null;
  return new Act(audit, {
    organizationId: organization?.id ?? businessId,
    actorId: caller.personId,
    source: caller.kind === 'console_session' ? 'console' : 'management_key',
  });
};

import { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';
import { FORM_BYTES_MAX, JSON_BYTES_MAX } from './limits.ts';
import type { AuditAction, RoleNeed } from './roles.ts';

/** Services that own public paths. */
export const serviceNames = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** Callers of internal routes: the services and the operator's command line. */
export const internalCallers = [...serviceNames, 'operator'] as const;

export type InternalCaller = (typeof internalCallers)[number];

/** Scopes that a user can grant to an app. */
export const scopes = ['inference', 'usage:read'] as const;

export type Scope = (typeof scopes)[number];

/** Default scope of authorize and consent requests. */
export const DEFAULT_SCOPE = 'inference usage:read';

/**
 * Kind of credential that a route requires. `client_credentials`: an app's id and secret by HTTP Basic. `service`:
 * internal routes, which list their `callers`.
 */
export type CallerKind =
  | 'public'
  | 'oauth_public'
  | 'console_session'
  | 'oauth_access_token'
  | 'client_credentials'
  | 'api_key'
  | 'session_or_api_key'
  | 'service';

/** Error format of a route: ours, RFC 6749's, or that of the common wire format. */
export type ErrorShape = 'detail' | 'oauth' | 'wire';

/** Request body of a route. A `raw` body reaches the handler unread; the handler enforces the limit. */
export interface RequestBodyDefinition {
  readonly contentType: 'application/json' | 'application/x-www-form-urlencoded' | 'multipart/form-data' | '*/*';
  readonly schema: z.ZodType;
  readonly required: boolean;
  readonly bytesMax: number;
  readonly raw?: true;
}

export interface ResponseDefinition {
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly contentType?: string;
  /** Address of what a 201 created, with names of the body's fields in braces. */
  readonly location?: string;
  /** Other content types of the same status. */
  readonly alternatives?: Readonly<Record<string, z.ZodType>>;
}

/** Kinds of credential that a console session is one of. */
type SessionCallerKind = 'console_session' | 'session_or_api_key';

/** Conditions for the people who call a route, if it accepts a console session. */
interface SessionAccess {
  readonly caller: SessionCallerKind;
  /** Scope with which a management key is accepted too; null for none. */
  readonly managementScope: ManagementScope | null;
  /** Role that a member of an organization needs. An account that acts for itself may call every route. */
  readonly role: RoleNeed;
  /** Returns the greater role that a body needs; undefined if `role` is enough. The handler checks it. */
  readonly roleOfBody?: (body: unknown) => RoleNeed | undefined;
}

/** Act that a route performs, for the audit log of an organization; null for one that the log does not hold. */
type Audited =
  | { readonly method: 'GET'; readonly audit?: undefined }
  | { readonly method: WritingMethod; readonly audit: AuditAction | null };

type WritingMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Credential of a route, with what follows from it. */
type RouteCaller =
  | (SessionAccess & Audited)
  | {
      readonly caller: Exclude<CallerKind, SessionCallerKind>;
      readonly method: 'GET' | WritingMethod;
      readonly managementScope?: undefined;
      readonly role?: undefined;
      readonly roleOfBody?: undefined;
      readonly audit?: undefined;
    };

/** An endpoint. Binding, ingress, documentation and clients are derived from it. */
export type RouteDefinition = RouteProperties & RouteCaller;

interface RouteProperties {
  readonly operationId: string;
  /** Parameters are in braces: `/v1/integrations/apps/{client_id}`. */
  readonly path: string;
  /** The last parameter is the rest of the path: it may contain slashes, percent-encoded or not. */
  readonly takesRest?: true;
  readonly service: ServiceName;
  /** Allowed callers of an internal route. */
  readonly callers?: readonly InternalCaller[];
  /** Only business accounts may call it. */
  readonly business?: true;
  /** Requires that the person has authenticated recently (STEP_UP_MAX_AGE_SECONDS). */
  readonly stepUp?: true;
  /** Only accounts with a confirmed address may call it, where the operator requires that. */
  readonly verifiedEmail?: true;
  /** Required scopes. */
  readonly scopes?: readonly Scope[];
  /** Allows cross-origin requests from any page, without credentials (CORS). */
  readonly crossOrigin?: true;
  readonly errorShape: ErrorShape;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly request: {
    params?: z.ZodObject;
    query?: z.ZodObject;
    headers?: z.ZodObject;
    body?: RequestBodyDefinition;
  };
  readonly responses: Readonly<Record<number, ResponseDefinition>>;
  readonly errors: readonly ErrorCode[];
}

/** A path, its owner, and the error format at and below it. */
export type IncomingPath = Pick<RouteDefinition, 'path' | 'service' | 'errorShape'>;

/** Preserves a route's literal type, which types its handlers and clients. */
export const defineRoute = <const R extends RouteDefinition>(route: R): R => route;

interface JsonBody<S extends z.ZodType, Q extends boolean> {
  readonly contentType: 'application/json';
  readonly schema: S;
  readonly required: Q;
  readonly bytesMax: number;
}

/** Defines a required JSON request body. */
export const jsonBody = <S extends z.ZodType>(schema: S, bytesMax: number = JSON_BYTES_MAX): JsonBody<S, true> => ({
  contentType: 'application/json',
  schema,
  required: true,
  bytesMax,
});

/** Defines an optional JSON request body. */
export const optionalJsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, false> => ({
  contentType: 'application/json',
  schema,
  required: false,
  bytesMax: JSON_BYTES_MAX,
});

/** Defines a JSON response. */
export const json = <S extends z.ZodType>(description: string, schema: S) =>
  ({ description, schema, contentType: 'application/json' }) as const;

/** Defines the JSON response to a request that created something, whose address it names in `Location`. */
export const created = <S extends z.ZodType>(description: string, schema: S, location: string) =>
  ({ ...json(description, schema), location }) as const;

/** Scopes of management keys. Each route that takes a console session states its own, or that it takes no such key. */
export const managementScopes = [
  'api_keys:read',
  'api_keys:write',
  'wallet:read',
  'usage:read',
  'apps:read',
  'apps:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type ManagementScope = (typeof managementScopes)[number];

/** Returns the scopes of which one is enough for a route: its own, and the `:write` that includes a `:read`. */
export const sufficientScopes = (wanted: ManagementScope): readonly ManagementScope[] => {
  const writing = wanted.replace(/:read$/, ':write');
  return managementScopes.filter((scope) => scope === wanted || scope === writing);
};

/** Key set (RFC 7517 section 5). */
export const jwksSchema = z
  .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
  .meta({ id: 'JsonWebKeySet' });

/** Returns the schema of a list that stays small: `{"data": [...]}`. */
export const listOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item) });

/** Returns the schema of a paged list: `{"data": [...], "has_more": boolean}`. */
export const pageOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), has_more: z.boolean() });

/** Query of a paged list. `after` is the id of the last record of the previous page. */
export const pageQuery = { limit: z.int().min(1).max(100).default(50), after: z.string().min(1).max(128).optional() };

/** Body of a form (RFC 1866), read by the handler itself. */
export const formBody = <S extends z.ZodType>(schema: S) =>
  ({
    contentType: 'application/x-www-form-urlencoded',
    schema,
    required: true,
    bytesMax: FORM_BYTES_MAX,
    raw: true,
  }) as const;

/** A page in a response. */
export const page = { contentType: 'text/html', schema: z.string() } as const;

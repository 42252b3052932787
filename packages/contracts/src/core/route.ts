import type { z } from 'zod';
import type { ErrorCode } from './error-codes.ts';
import { JSON_BYTES_MAX } from './limits.ts';

/** The deployable services that own public paths. */
export const serviceNames = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;

/** One of the deployable services. */
export type ServiceName = (typeof serviceNames)[number];

/** Callers of internal routes: the services, and the operator's command line. */
export const internalCallers = [...serviceNames, 'operator'] as const;

/** One of the callers of internal routes. */
export type InternalCaller = (typeof internalCallers)[number];

/** Scopes that a user can grant to an app. */
export const scopes = ['inference', 'usage:read'] as const;

/** One of the grantable scopes. */
export type Scope = (typeof scopes)[number];

/** What both authorize and consent assume when no scope is named. */
export const DEFAULT_SCOPE = 'inference usage:read';

/** Kind of credential that a route asks for. `service` is internal: the route also names its `callers`. */
export type CallerKind = 'public' | 'oauth_public' | 'console_session' | 'oauth_access_token' | 'api_key' | 'service';

/** How a route's errors look: ours, RFC 6749's, or the common wire format's. */
export type ErrorShape = 'detail' | 'oauth' | 'wire';

/** The body that a route takes, of any type where its content decides. `raw`: handed to the handler unread, which then enforces the limit itself. */
export interface RequestBodyDefinition {
  contentType: 'application/json' | 'application/x-www-form-urlencoded' | 'multipart/form-data' | '*/*';
  schema: z.ZodType;
  required: boolean;
  bytesMax: number;
  raw?: true;
}

/** One kind of answer. */
export interface ResponseDefinition {
  description: string;
  schema?: z.ZodType;
  contentType?: string;
  /** Other content types that the same status can have. */
  alternatives?: Readonly<Record<string, z.ZodType>>;
}

/** One endpoint: the single place from which binding, ingress, documentation and clients are derived. */
export interface RouteDefinition {
  operationId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces: `/v1/integrations/apps/{client_id}`. */
  path: string;
  service: ServiceName;
  caller: CallerKind;
  /** On internal routes: the only callers that are let in. */
  callers?: readonly InternalCaller[];
  /** The account must be a business account. */
  business?: true;
  /** All of these are wanted. */
  scopes?: readonly Scope[];
  errorShape: ErrorShape;
  tag: string;
  summary: string;
  description?: string;
  request: {
    params?: z.ZodObject;
    query?: z.ZodObject;
    headers?: z.ZodObject;
    body?: RequestBodyDefinition;
  };
  responses: Readonly<Record<number, ResponseDefinition>>;
  errors: readonly ErrorCode[];
}

/** Keeps a route's literal type, so that handlers and clients are typed by it. */
export const defineRoute = <const R extends RouteDefinition>(route: R): R => route;

interface JsonBody<S extends z.ZodType, Q extends boolean> {
  contentType: 'application/json';
  schema: S;
  required: Q;
  bytesMax: number;
}

/** A required JSON request body. */
export const jsonBody = <S extends z.ZodType>(schema: S, bytesMax: number = JSON_BYTES_MAX): JsonBody<S, true> => ({
  contentType: 'application/json',
  schema,
  required: true,
  bytesMax,
});

/** A JSON request body that the caller may leave out. */
export const optionalJsonBody = <S extends z.ZodType>(schema: S): JsonBody<S, false> => ({
  contentType: 'application/json',
  schema,
  required: false,
  bytesMax: JSON_BYTES_MAX,
});

/** A JSON answer. */
export const json = <S extends z.ZodType>(description: string, schema: S) =>
  ({ description, schema, contentType: 'application/json' }) as const;

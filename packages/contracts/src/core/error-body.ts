import { z } from 'zod';
import { roles } from './roles.ts';

/**
 * Errors other than 422, outside the token endpoint and the API-key gateway: `{"detail": {"code", "message", ...}}`.
 */
export const errorBodySchema = z
  .object({
    detail: z.looseObject({
      code: z.string(),
      message: z.string(),
      resets_at: z
        .string()
        .nullish()
        .meta({ description: 'On 402 limit errors: the end of the window. Null for a budget in total.' }),
      manage_url: z
        .string()
        .optional()
        .meta({ description: 'Where the user can choose a plan, change the app’s budget, or resume the app.' }),
      required_role: z
        .enum(roles)
        .optional()
        .meta({ description: 'On 403 `role_not_allowed`: the least role that may do this.' }),
      extra: z
        .object({ reason: z.enum(['ceiling', 'wallet']) })
        .optional()
        .meta({ description: 'On a 402 by a cap, if extra use is on: what does not cover the request.' }),
    }),
  })
  .meta({ id: 'ErrorBody' });

/** Error of the OAuth endpoints (RFC 6749 section 5.2). */
export const oauthErrorSchema = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' });

/** Error in the common chat-completions wire format. */
export const wireErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
      request_id: z.string().optional().meta({ description: 'On 409 `duplicate_request`: the first request.' }),
      state: z.string().optional().meta({ description: 'On 409 `duplicate_request`: the state of the first request.' }),
      available_micros: z.int().min(0).optional().meta({
        description: 'On 402: the smaller of what the wallet and the key’s month have left.',
      }),
      needed_micros: z.int().min(0).nullish().meta({
        description:
          'On 402: the highest cost of this request, with 256 output tokens if it names no limit. Null if its body was not read.',
      }),
      affordable_output_tokens: z.int().min(0).optional().meta({
        description: 'On 402: the output limit that would fit. 0 if that is below 256 tokens, or unknown.',
      }),
    }),
  })
  .meta({ id: 'WireError' });

/**
 * Returns the `error` of an OAuth endpoint for one of our codes. RFC 6749 section 5.2 has six; section 4.1.2.1 adds two
 * for server failures.
 */
export const oauthErrorCode = ({ kind, status }: Pick<ErrorCodeDefinition, 'kind' | 'status'>): string => {
  if (kind === 'limit' || (kind === 'unavailable' && status !== 501)) return 'temporarily_unavailable';
  return kind === 'internal' ? 'server_error' : 'invalid_request';
};

/** Returns the `type` of an error in the common wire format. */
export const wireErrorType = (status: number): string => {
  if (status >= 500) return 'server_error';
  if (status === 402) return 'insufficient_quota';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
};

/** Kinds of error that operations throw, with the default HTTP status of each. */
export const errorKinds = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit: 429,
  unavailable: 503,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** Part of the product that returns a code. `internal` codes occur only on routes between services. */
export type ErrorOwner = 'any' | 'internal' | 'auth' | 'billing' | 'inference-gateway' | 'webhook-dispatcher';

export interface ErrorCodeDefinition {
  readonly owner: ErrorOwner;
  readonly kind: ErrorKind;
  readonly status: number;
  readonly description: string;
}

/** Defines an error code. */
export const code = (owner: ErrorOwner, kind: ErrorKind, status: number, description: string): ErrorCodeDefinition => ({
  owner,
  kind,
  status,
  description,
});

/** `type` names of validation errors, a subset of Pydantic's. */
export const validationErrorTypes = [
  'missing',
  'extra_forbidden',
  'string_type',
  'string_too_short',
  'string_too_long',
  'string_pattern_mismatch',
  'literal_error',
  'enum',
  'int_type',
  'float_type',
  'bool_type',
  'list_type',
  'dict_type',
  'greater_than',
  'greater_than_equal',
  'less_than_equal',
  'too_short',
  'too_long',
  'json_invalid',
  'value_error',
] as const;

export type ValidationErrorType = (typeof validationErrorTypes)[number];

/** One error of a request. `loc` starts with `body`, `query`, `path`, `form` or `header`. */
export const validationIssueSchema = z
  .object({
    loc: z.array(z.union([z.string(), z.int()])),
    msg: z.string(),
    type: z.string(),
    input: z.unknown().optional(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationIssue' });

/** Body of a 422 response. */
export const validationErrorSchema = z
  .object({ detail: z.array(validationIssueSchema) })
  .meta({ id: 'ValidationError' });

export type ValidationIssue = z.infer<typeof validationIssueSchema>;

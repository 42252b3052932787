import type { z } from 'zod';
import {
  type CallerKind,
  type ErrorCode,
  errorBodySchema,
  errorCodes,
  oauthErrorSchema,
  type ResponseDefinition,
  type RouteDefinition,
  validationErrorSchema,
  wireErrorSchema,
} from '../core/index.ts';
import type { ErrorExamples } from './errors-page.ts';
import { responseExamples, textExamples } from './example-bodies.ts';
import { exampleOf } from './example-of.ts';
import { EXAMPLE_TIME, exampleId } from './example-values.ts';
import type { JsonSchema, SchemaCollector } from './schemas.ts';

const text = (description: string, example: string): JsonSchema => ({
  description,
  schema: { type: 'string' },
  example,
});
const integer = (description: string, example: number): JsonSchema => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

/** Compliance metadata of an answer of the API-key gateway. */
const complianceHeaders = {
  'X-Svc-Compliance-Schema-Version': text('Version of the compliance metadata.', '2'),
  'X-Svc-Compliance-Provider': text('Provider that answered, percent-encoded unless it is ASCII.', 'Mistral'),
  'X-Svc-Compliance-Model': text('Model that answered, as the provider names it.', 'mistral-large-2512'),
  'X-Svc-Compliance-Data-Zone': text('Zone in which the provider handles the data.', 'EU'),
  'X-Svc-Compliance-Ingress-Region': text('Region where the request came in, not where it was executed.', 'eu-central'),
  'X-Svc-Compliance-Upstream-Request-Id': text('The provider’s id of the request.', '6f1d0c2e'),
  'X-Svc-Compliance-Gateway-Request-Id': text('Our id of the request; the same as `X-Request-Id`.', exampleId('req')),
  'X-Svc-Compliance-Timestamp': text('Time of the answer, ISO 8601 in UTC.', EXAMPLE_TIME),
} as const;

/** Rate limits of an API key. Absent if the key has no such limit. */
const rateLimitHeaders = {
  'x-ratelimit-limit-requests': integer('Requests per minute that the key may make.', 60),
  'x-ratelimit-remaining-requests': integer('Requests left in this minute.', 59),
  'x-ratelimit-reset-requests': text('Time until the limit of requests is full again.', '1.2s'),
  'x-ratelimit-limit-tokens': integer('Tokens per minute that the key may use.', 60_000),
  'x-ratelimit-remaining-tokens': integer('Tokens left in this minute.', 59_400),
  'x-ratelimit-reset-tokens': text('Time until the limit of tokens is full again.', '1.2s'),
} as const;

/** Every header that the document describes. */
export const responseHeaders = {
  'X-Request-Id': text('Id of this request. Quote it to support.', exampleId('req')),
  'Retry-After': integer(
    'Seconds to wait before a retry. Absent where a retry is safe at once, or where no time is known.',
    2,
  ),
  'X-Should-Retry': text('`false` if a retry would not change the answer, or might be billed twice.', 'false'),
  'WWW-Authenticate': text('Scheme of the credential, and the error of a refused one (RFC 6750).', 'Bearer'),
  Location: text('Address of what was created, or of the page to open next.', '/v1/integrations/apps/app_01k5…'),
  ...rateLimitHeaders,
  ...complianceHeaders,
} as const satisfies Record<string, JsonSchema>;

type HeaderName = keyof typeof responseHeaders;

const RATE_LIMIT_NAMES = Object.keys(rateLimitHeaders) as HeaderName[]; // keys of the object above
const COMPLIANCE_NAMES = Object.keys(complianceHeaders) as HeaderName[]; // keys of the object above
const RETRY_STATUSES = new Set(['429', '503']);
const uncredentialed: readonly CallerKind[] = ['public', 'service'];

/** Returns references to the headers of a route's response. */
const headersOf = (route: RouteDefinition, status: string): Record<string, JsonSchema> =>
  Object.fromEntries(namesOf(route, status).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const namesOf = (route: RouteDefinition, status: string): readonly HeaderName[] => {
  const isInference = route.errorShape === 'wire' && route.method === 'POST';
  const hasLocation = route.responses[Number(status)]?.location !== undefined || status.startsWith('3');
  const mayWait = RETRY_STATUSES.has(status) || (status === '409' && route.errors.includes('not_settled'));
  const mayNotRepeat =
    (status === '409' && route.errors.includes('duplicate_request')) ||
    (status === '504' && route.errors.includes('upstream_timeout_uncertain'));
  return [
    'X-Request-Id',
    ...(hasLocation ? (['Location'] as const) : []),
    ...(status === '401' && !uncredentialed.includes(route.caller) ? (['WWW-Authenticate'] as const) : []),
    ...(mayWait ? (['Retry-After'] as const) : []),
    ...(mayNotRepeat ? (['X-Should-Retry'] as const) : []),
    ...(isInference && (status === '200' || status === '429') ? RATE_LIMIT_NAMES : []),
    ...(isInference && status === '200' ? COMPLIANCE_NAMES : []),
    ...(route.errorShape === 'wire' && !(isInference && status === '200')
      ? (['X-Svc-Compliance-Gateway-Request-Id'] as const)
      : []),
  ];
};

/** Components that the responses of the document refer to. */
export interface ResponseParts {
  readonly schemas: SchemaCollector;
  readonly errors: ErrorExamples;
}

const commonErrors: readonly ErrorCode[] = ['internal_error', 'service_unavailable'];
/** Callers that get our own codes if their credential is missing or refused. */
const tokenCallers: readonly CallerKind[] = [
  'console_session',
  'oauth_access_token',
  'client_credentials',
  'session_or_api_key',
];
const errorSchemas = { detail: errorBodySchema, oauth: oauthErrorSchema, wire: wireErrorSchema };
/** Errors that a library or provider words itself, by shape and status. */
const FOREIGN_ERRORS: Readonly<Record<string, object>> = {
  'oauth 400': { error: 'invalid_grant', error_description: 'grant request is invalid' },
  'oauth 401': { error: 'invalid_client', error_description: 'client authentication failed' },
  'wire 422': {
    error: { message: 'Unprocessable messages.', type: 'invalid_request_error', param: 'messages', code: null },
  },
};

/** Returns the responses of a route by status, each with its headers and examples. */
export const responsesOf = (route: RouteDefinition, parts: ResponseParts): JsonSchema => {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, response] of Object.entries(route.responses)) {
    responses[status] = { description: response.description, ...contentOf(response, { route, status, parts }) };
  }
  for (const [status, codes] of errorsByStatus(route)) responses[status] ??= errorResponse(route, codes, parts);
  if (takesInput(route) && route.errorShape !== 'wire') {
    const schema = parts.schemas.add(validationErrorSchema);
    const example = exampleOf(schema, { components: parts.schemas.components, isMinimal: true });
    responses['422'] = {
      description: 'The request is invalid.',
      content: { 'application/json': { schema, example } },
    };
  }
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, { headers: headersOf(route, status), ...response }]),
  );
};

interface ResponseOf {
  readonly route: RouteDefinition;
  readonly status: string;
  readonly parts: ResponseParts;
}

const contentOf = ({ contentType, schema, alternatives = {} }: ResponseDefinition, of: ResponseOf): JsonSchema => {
  const types = [...(contentType && schema ? [[contentType, schema] as const] : []), ...Object.entries(alternatives)];
  if (types.length === 0) return {};
  return { content: Object.fromEntries(types.map(([type, each]) => [type, mediaTypeOf(type, each, of)])) };
};

const mediaTypeOf = (type: string, given: z.ZodType, { route, status, parts }: ResponseOf): JsonSchema => {
  const schema = parts.schemas.add(given);
  if (type !== 'application/json') {
    return { schema, example: textExamples[type === 'text/event-stream' ? route.operationId : type] };
  }
  if (status >= '400') return errorContent(route, status, { schema, parts });
  const generated = exampleOf(schema, { components: parts.schemas.components, isMinimal: false });
  return { schema, example: Object.assign({}, generated, responseExamples[route.operationId]) };
};

const errorContent = (
  route: RouteDefinition,
  status: string,
  { schema, parts }: { schema: JsonSchema; parts: ResponseParts },
): JsonSchema => {
  const foreign = FOREIGN_ERRORS[`${route.errorShape} ${status}`];
  if (foreign !== undefined) return { schema, example: foreign };
  return { schema, examples: parts.errors.add(route.errorShape, errorsByStatus(route).get(status) ?? []) };
};

const takesInput = ({ request }: RouteDefinition): boolean =>
  [request.params, request.query, request.headers, request.body].some((part) => part !== undefined);

/** Groups the codes of a route by status, including those of its kind of caller. */
const errorsByStatus = (route: RouteDefinition): Map<string, ErrorCode[]> => {
  const codes = new Set<ErrorCode>([...route.errors, ...commonErrors]);
  if (tokenCallers.includes(route.caller)) codes.add('not_authenticated').add('invalid_token');
  if (route.scopes || route.managementScope !== undefined) codes.add('insufficient_scope');
  if (route.business) codes.add('business_account_required');
  if (route.stepUp) codes.add('reauthentication_required');
  if (route.verifiedEmail) codes.add('email_not_verified');
  if (route.request.params) codes.add('not_found');
  if (route.request.body) codes.add('request_timeout').add('payload_too_large').add('unsupported_media_type');
  const byStatus = new Map<string, ErrorCode[]>();
  for (const code of codes) {
    const status = String(errorCodes[code].status);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
};

const errorResponse = (route: RouteDefinition, codes: ErrorCode[], { schemas, errors }: ResponseParts): JsonSchema => ({
  description: codes.map((code) => `\`${code}\`: ${errorCodes[code].description}`).join('\n\n'),
  content: {
    'application/json': {
      schema: schemas.add(errorSchemas[route.errorShape]),
      examples: errors.add(route.errorShape, codes),
    },
  },
});

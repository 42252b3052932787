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
import type { ErrorExamples } from './error-examples.ts';
import { responseExamples, textExamples } from './example-bodies.ts';
import { exampleOf } from './example-of.ts';
import { headersOf } from './response-headers.ts';
import type { JsonSchema, SchemaCollector } from './schemas.ts';

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

import type { z } from 'zod';
import {
  type CallerKind,
  type ErrorCode,
  errorBodySchema,
  errorCodes,
  oauthErrorSchema,
  type RouteDefinition,
  scopes,
  validationErrorSchema,
  wireErrorSchema,
} from '../core/index.ts';
import { allRoutes } from '../routes.ts';
import { WEBHOOK_API_VERSION, webhookEventSchema } from '../webhook-dispatcher/index.ts';
import { parameterDescriptions, tagDescriptions, webhookDescriptions } from './descriptions.ts';
import { createSchemaCollector, type JsonSchema, type SchemaCollector } from './schemas.ts';

/** Version of the API description. */
export const DESCRIPTION_VERSION = '2026-10-01';

const commonErrors: readonly ErrorCode[] = ['internal_error', 'service_unavailable'];

/**
 * Returns the security alternatives of a route. The scheme of an access token follows from its `token_type`. Only
 * schemes of type `oauth2` list scopes; the description of the DPoP scheme refers to them.
 */
const securityOf = ({ caller, scopes: wanted = [] }: RouteDefinition): JsonSchema[] => {
  switch (caller) {
    case 'public':
    case 'oauth_public':
    case 'service':
      return [];
    case 'oauth_access_token':
      return [{ oauth_access_token: wanted }, { dpop_access_token: [] }];
    case 'session_or_api_key':
      return [{ console_session: [] }, { api_key: [] }];
    default:
      return [{ [caller]: [] }];
  }
};

/** Builds the OpenAPI 3.1 document of the public API from the route table. */
export const openapiDocument = (): JsonSchema => {
  const collector = createSchemaCollector();
  const paths: Record<string, JsonSchema> = {};
  for (const route of allRoutes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, collector) };
  }
  const webhooks = webhookOperations(collector);
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: DESCRIPTION_VERSION,
      summary: 'Bring your own AI subscription to other people’s apps.',
      description:
        'Registered-app OAuth, delegated chat and audio inference on a shared subscription, lifecycle webhooks, and an API-key gateway with compliance metadata.',
      contact: { name: 'The operator of this server' },
      license: { name: 'All rights reserved', identifier: 'LicenseRef-All-Rights-Reserved' },
    },
    servers: [{ url: '/', description: 'The server that offers this document.' }],
    tags: [...new Set(allRoutes.map((route) => route.tag))].map((name) => ({
      name,
      description: tagDescriptions[name],
    })),
    paths,
    webhooks,
    components: { securitySchemes: securitySchemes(), schemas: collector.components },
  };
};

const operationOf = (route: RouteDefinition, collector: SchemaCollector): JsonSchema => ({
  operationId: route.operationId,
  tags: [route.tag],
  summary: route.summary,
  ...(route.description === undefined ? {} : { description: route.description }),
  security: securityOf(route),
  parameters: [
    ...parametersOf('path', route.request.params, collector),
    ...parametersOf('query', route.request.query, collector),
    ...parametersOf('header', route.request.headers, collector),
  ],
  ...requestBodyOf(route, collector),
  responses: responsesOf(route, collector),
});

const parametersOf = (
  where: 'path' | 'query' | 'header',
  object: z.ZodObject | undefined,
  collector: SchemaCollector,
): JsonSchema[] =>
  Object.entries(object?.shape ?? {}).map(([name, given]) => {
    const schema = given as z.ZodType; // the shape of a ZodObject holds zod types, but is typed as their core
    const added = collector.add(schema);
    const known = parameterDescriptions[name];
    // The description of an id names its kind only.
    const description = where === 'path' ? known : (added['description'] ?? known);
    return {
      name,
      in: where,
      required: where === 'path' || !schema.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: added,
    };
  });

const requestBodyOf = (route: RouteDefinition, collector: SchemaCollector): JsonSchema => {
  const { body } = route.request;
  if (body === undefined) return {};
  return {
    requestBody: { required: body.required, content: { [body.contentType]: { schema: collector.add(body.schema) } } },
  };
};

const responsesOf = (route: RouteDefinition, collector: SchemaCollector): JsonSchema => {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, response] of Object.entries(route.responses)) {
    const { description, contentType, schema, alternatives = {} } = response;
    const types = [...(contentType && schema ? [[contentType, schema] as const] : []), ...Object.entries(alternatives)];
    const content = Object.fromEntries(types.map(([type, each]) => [type, { schema: collector.add(each) }]));
    responses[status] = { description, ...(types.length === 0 ? {} : { content }) };
  }
  for (const [status, codes] of errorsByStatus(route)) {
    responses[status] ??= errorResponse(route, codes, collector);
  }
  if (takesInput(route) && route.errorShape !== 'wire') {
    responses['422'] = {
      description: 'The request is invalid.',
      content: { 'application/json': { schema: collector.add(validationErrorSchema) } },
    };
  }
  return responses;
};

const takesInput = ({ request }: RouteDefinition): boolean =>
  [request.params, request.query, request.headers, request.body].some((part) => part !== undefined);

/** Callers that get our own codes if their credential is missing or refused. */
const tokenCallers: readonly CallerKind[] = [
  'console_session',
  'oauth_access_token',
  'client_credentials',
  'session_or_api_key',
];

/** Groups the codes of a route by status, including those of its kind of caller. */
const errorsByStatus = (route: RouteDefinition): Map<string, ErrorCode[]> => {
  const codes = new Set<ErrorCode>([...route.errors, ...commonErrors]);
  if (tokenCallers.includes(route.caller)) codes.add('not_authenticated').add('invalid_token');
  if (route.scopes) codes.add('insufficient_scope');
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

const errorSchemas = { detail: errorBodySchema, oauth: oauthErrorSchema, wire: wireErrorSchema };

const errorResponse = (route: RouteDefinition, codes: ErrorCode[], collector: SchemaCollector): JsonSchema => ({
  description: codes.map((code) => `\`${code}\`: ${errorCodes[code].description}`).join('\n\n'),
  content: { 'application/json': { schema: collector.add(errorSchemas[route.errorShape]) } },
});

const webhookOperations = (collector: SchemaCollector): JsonSchema =>
  Object.fromEntries(
    webhookEventSchema.options.map((option) => [
      option.shape.event.value,
      {
        post: {
          operationId: `receive:${option.shape.event.value}`,
          tags: ['Webhooks'],
          // The signature authenticates the sender.
          security: [],
          summary: `\`${option.shape.event.value}\`, signed in \`X-Svc-Signature\` (API version ${WEBHOOK_API_VERSION})`,
          description: webhookDescriptions[option.shape.event.value],
          requestBody: { required: true, content: { 'application/json': { schema: collector.add(option) } } },
          responses: { '2XX': { description: 'Accepted. Answer only after you have committed your work.' } },
        },
      },
    ]),
  );

const securitySchemes = (): JsonSchema => ({
  console_session: {
    type: 'http',
    scheme: 'bearer',
    description: 'A console session token, from `POST /v1/console/sessions`.',
  },
  oauth_access_token: {
    type: 'oauth2',
    description: 'An access token of a connected app.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/v1/integrations/oauth/authorize',
        tokenUrl: '/v1/integrations/oauth/token',
        refreshUrl: '/v1/integrations/oauth/token',
        scopes: Object.fromEntries(scopes.map((scope) => [scope, scopeDescriptions[scope]])),
      },
    },
  },
  dpop_access_token: {
    type: 'http',
    scheme: 'DPoP',
    description:
      'An access token bound to a key (`token_type` DPoP): `Authorization: DPoP <token>`, with a proof for this request in the header `DPoP` (RFC 9449 section 7.1). It needs the scopes that `oauth_access_token` lists.',
  },
  client_credentials: {
    type: 'http',
    scheme: 'basic',
    description: 'The `client_id` and `client_secret` of a confidential app.',
  },
  api_key: { type: 'http', scheme: 'bearer', description: 'An API key, from `POST /v1/gateway/keys`.' },
});

const scopeDescriptions: Record<(typeof scopes)[number], string> = {
  inference: "Chat, audio transcription and capabilities, paid by the user's subscription.",
  'usage:read': 'Shared limits and usage.',
};

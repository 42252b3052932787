import type { z } from 'zod';
import { managementScopes, type RouteDefinition, scopes } from '../core/index.ts';
import { documentedRoutes } from '../routes.ts';
import { accountEventSchema, WEBHOOK_API_VERSION, webhookEventSchema } from '../webhook-dispatcher/index.ts';
import { parameterDescriptions, tagDescriptions, webhookDescriptions } from './descriptions.ts';
import { createErrorExamples } from './errors-page.ts';
import { requestExamples } from './example-bodies.ts';
import { exampleOf, exampleOfField } from './example-of.ts';
import { type ResponseParts, responseHeaders, responsesOf } from './responses.ts';
import { createSchemaCollector, type JsonSchema, type SchemaCollector } from './schemas.ts';

/** Version of the API description. */
export const DESCRIPTION_VERSION = '2026-10-01';

/**
 * Returns the security alternatives of a route: those of its caller, and a management key. The scheme of an access token
 * follows from its `token_type`. The description of the DPoP scheme refers to the scopes of the other one.
 */
const securityOf = (route: RouteDefinition): JsonSchema[] => {
  const { managementScope } = route;
  const alternatives = callerSecurity(route);
  return managementScope == null ? alternatives : [...alternatives, { management_key: [] }];
};

const callerSecurity = ({ caller, scopes: wanted = [] }: RouteDefinition): JsonSchema[] => {
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
  const parts = { schemas: createSchemaCollector(), errors: createErrorExamples() };
  const paths: Record<string, JsonSchema> = {};
  for (const route of documentedRoutes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route, parts) };
  }
  const webhooks = webhookOperations(parts.schemas);
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
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: securitySchemes(),
      schemas: parts.schemas.components,
      headers: responseHeaders,
      examples: parts.errors.components,
    },
  };
};

const operationOf = (route: RouteDefinition, parts: ResponseParts): JsonSchema => ({
  operationId: route.operationId,
  tags: [route.tag],
  summary: route.summary,
  ...(route.description === undefined ? {} : { description: route.description }),
  security: securityOf(route),
  // Only schemes of type `oauth2` list scopes.
  ...(route.managementScope == null ? {} : { 'x-management-scope': route.managementScope }),
  parameters: [
    ...parametersOf('path', route.request.params, parts.schemas),
    ...parametersOf('query', route.request.query, parts.schemas),
    ...parametersOf('header', route.request.headers, parts.schemas),
  ],
  ...requestBodyOf(route, parts.schemas),
  responses: responsesOf(route, parts),
});

const parametersOf = (
  where: 'path' | 'query' | 'header',
  object: z.ZodObject | undefined,
  collector: SchemaCollector,
): JsonSchema[] =>
  Object.entries(object?.shape ?? {}).map(([name, given]) => {
    const schema = given as z.ZodType; // the shape of a ZodObject holds zod types, but is typed as their core
    const added = collector.add(schema);
    const isRequired = where === 'path' || !schema.safeParse(undefined).success;
    const known = parameterDescriptions[name];
    // The description of an id names its kind only.
    const description = where === 'path' ? known : (added['description'] ?? known);
    return {
      name,
      in: where,
      required: isRequired,
      ...(description === undefined ? {} : { description }),
      schema: added,
      ...(isRequired ? { example: exampleOfField(name, added, collector.components) } : {}),
    };
  });

const requestBodyOf = (route: RouteDefinition, collector: SchemaCollector): JsonSchema => {
  const { body } = route.request;
  if (body === undefined) return {};
  const schema = collector.add(body.schema);
  const content =
    body.contentType === '*/*' ? { schema } : { schema, example: requestExample(route, schema, collector) };
  return { requestBody: { required: body.required, content: { [body.contentType]: content } } };
};

const requestExample = (
  { operationId }: RouteDefinition,
  schema: JsonSchema,
  { components }: SchemaCollector,
): object => Object.assign({}, exampleOf(schema, { components, isMinimal: true }), requestExamples[operationId]);

const webhookOperations = (collector: SchemaCollector): JsonSchema =>
  Object.fromEntries(
    [...webhookEventSchema.options, ...accountEventSchema.options].map((option) => {
      const event = option.shape.event.value;
      const schema = collector.add(option);
      const example = exampleOf(schema, { components: collector.components, isMinimal: false });
      const post = {
        operationId: `receive:${event}`,
        tags: ['account_id' in option.shape ? 'Account events' : 'Webhooks'],
        // The signature authenticates the sender.
        security: [],
        summary: `\`${event}\`, signed in \`X-Svc-Signature\` (API version ${WEBHOOK_API_VERSION})`,
        description: webhookDescriptions[event],
        requestBody: { required: true, content: { 'application/json': { schema, example } } },
        responses: { '2XX': { description: 'Accepted. Answer only after you have committed your work.' } },
      };
      return [event, { post }];
    }),
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
  management_key: {
    type: 'http',
    scheme: 'bearer',
    description: `A management key, from \`POST /v1/console/management-keys\`, with the scope that an operation names in \`x-management-scope\`. All scopes: ${managementScopes.map((scope) => `\`${scope}\``).join(', ')}. A \`:write\` includes its \`:read\`.`,
  },
});

const scopeDescriptions: Record<(typeof scopes)[number], string> = {
  inference: "Chat, audio transcription and capabilities, paid by the user's subscription.",
  'usage:read': 'Shared limits and usage.',
};

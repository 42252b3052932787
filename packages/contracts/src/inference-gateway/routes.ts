import { z } from 'zod';
import { admissionRefusals } from '../billing/admissions.ts';
import { wireErrorSchema } from '../core/error-body.ts';
import { AUDIO_FILE_BYTES_MAX, AUDIO_FORM_OVERHEAD_BYTES_MAX, INFERENCE_JSON_BYTES_MAX } from '../core/limits.ts';
import { defineRoute, json, jsonBody, jwksSchema } from '../core/route.ts';
import * as keys from './api-keys.ts';
import { keyRoutes } from './api-keys.ts';
import * as delegated from './delegated.ts';
import * as gateway from './gateway.ts';
import { responseRequestSchema, responseSchema } from './gateway.ts';
import { priceListSchema } from './prices.ts';

const service = 'inference-gateway' as const;
const app = {
  service,
  errorShape: 'detail',
  tag: 'Delegated inference',
  caller: 'oauth_access_token',
  scopes: ['inference'],
  crossOrigin: true,
} as const;
const wire = { service, errorShape: 'wire', tag: 'API-key gateway', caller: 'api_key' } as const;
const rawJson = <S extends z.ZodType>(schema: S) =>
  ({ ...jsonBody(schema, INFERENCE_JSON_BYTES_MAX), raw: true }) as const;

/** Defines a JSON response that becomes an event stream on request. */
const jsonOrStream = <S extends z.ZodType>(description: string, schema: S) =>
  ({ ...json(description, schema), alternatives: { 'text/event-stream': z.string() } }) as const;

/** A provider's own 422. Its 400, 404, 413 and 415 need no entry, because they have the format of our errors. */
const providerRefusal = { 422: json('The provider’s own refusal of the request.', wireErrorSchema) } as const;

const upstreamErrors = ['upstream_error', 'upstream_unavailable', 'upstream_timeout_uncertain'] as const;
const gatewayErrors = [
  'invalid_api_key',
  'invalid_request_error',
  'insufficient_balance',
  'key_monthly_limit_exceeded',
  'member_monthly_limit_exceeded',
  'model_not_found',
  'model_not_allowed',
  'duplicate_request',
  'rate_limit_exceeded',
  'compliance_metadata_missing',
  'provider_attribution_ambiguous',
  'no_certified_route',
  'compliance_mode_unsupported',
  'payload_too_complex',
  ...upstreamErrors,
] as const;

/** Inference paid by a user's subscription. */
const delegatedRoutes = {
  createDelegatedChatCompletion: defineRoute({
    ...app,
    operationId: 'createDelegatedChatCompletion',
    method: 'POST',
    path: '/v1/integrations/inference/chat/completions',
    summary: 'Create a chat completion',
    description: 'With `stream: true` the answer is `text/event-stream` and ends with `[DONE]`.',
    request: {
      headers: delegated.chatHeaders,
      body: rawJson(delegated.chatRequestSchema),
    },
    responses: { 200: jsonOrStream('The completion, or a stream of chunks.', delegated.chatCompletionSchema) },
    errors: [...admissionRefusals, ...upstreamErrors, 'upstream_rejected', 'no_certified_route', 'payload_too_complex'],
  }),
  createDelegatedTranscription: defineRoute({
    ...app,
    operationId: 'createDelegatedTranscription',
    method: 'POST',
    path: '/v1/integrations/inference/audio/transcriptions',
    summary: 'Transcribe an audio file',
    description: 'Billed to the user’s subscription. At most 25,000,000 bytes of audio.',
    request: {
      headers: delegated.idempotencyHeaders,
      body: {
        contentType: 'multipart/form-data',
        schema: delegated.transcriptionFormSchema,
        required: true,
        bytesMax: AUDIO_FILE_BYTES_MAX + AUDIO_FORM_OVERHEAD_BYTES_MAX,
        raw: true,
      },
    },
    responses: { 200: json('The transcription.', delegated.transcriptionSchema) },
    errors: [...admissionRefusals, ...upstreamErrors, 'upstream_rejected', 'subscription_transcription_not_configured'],
  }),
  getCapabilities: defineRoute({
    ...app,
    operationId: 'getCapabilities',
    method: 'GET',
    path: '/v1/integrations/inference/capabilities',
    summary: 'Get the available services',
    description: 'A service is true if both the server and the user’s plan offer it.',
    request: {},
    responses: { 200: json('The services.', delegated.capabilitiesSchema) },
    errors: [],
  }),
} as const;

/** The API-key gateway, in the common wire format. */
const gatewayRoutes = {
  createChatCompletion: defineRoute({
    ...wire,
    operationId: 'createChatCompletion',
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Chat completions',
    description: 'Takes the common chat-completions format and streams on request. Paid from the wallet of the key.',
    request: { headers: gateway.messageHeaders, body: rawJson(gateway.gatewayChatRequestSchema) },
    responses: {
      200: jsonOrStream('The completion, or a stream of chunks.', gateway.gatewayAnswerSchema),
      ...providerRefusal,
    },
    errors: [...gatewayErrors, 'provenance_needs_body'],
  }),
  createResponse: defineRoute({
    ...wire,
    operationId: 'createResponse',
    method: 'POST',
    path: '/v1/responses',
    summary: 'Create a response',
    description:
      'The stateless part of the Responses format, served by the chat routes. With `stream: true` the answer is `text/event-stream` with semantic events. Parameters that require storage are refused with `unsupported_parameter`.',
    request: { headers: gateway.messageHeaders, body: rawJson(responseRequestSchema) },
    responses: { 200: jsonOrStream('The response, or a stream of events.', responseSchema), ...providerRefusal },
    errors: [...gatewayErrors, 'provenance_needs_body', 'unsupported_parameter'],
  }),
  createCompletion: defineRoute({
    ...wire,
    operationId: 'createCompletion',
    method: 'POST',
    path: '/v1/completions',
    summary: 'Create a legacy text completion',
    description: 'Takes the older text-completions format. Paid from the wallet of the key.',
    request: { headers: gateway.gatewayHeaders, body: rawJson(gateway.gatewayCompletionRequestSchema) },
    responses: {
      200: jsonOrStream('The completion, or a stream of chunks.', gateway.gatewayAnswerSchema),
      ...providerRefusal,
    },
    errors: gatewayErrors,
  }),
  createEmbeddings: defineRoute({
    ...wire,
    operationId: 'createEmbeddings',
    method: 'POST',
    path: '/v1/embeddings',
    summary: 'Text embeddings',
    description: 'Takes the common embeddings format. Paid from the wallet of the key.',
    request: { headers: gateway.gatewayHeaders, body: rawJson(gateway.gatewayEmbeddingsRequestSchema) },
    responses: { 200: json('The embeddings.', gateway.gatewayAnswerSchema), ...providerRefusal },
    errors: gatewayErrors,
  }),
  listModels: defineRoute({
    ...wire,
    operationId: 'listModels',
    method: 'GET',
    path: '/v1/models',
    summary: 'List the models',
    description: 'Returns the models with a certified route that this key may use.',
    request: {},
    responses: { 200: json('The models.', gateway.modelListSchema) },
    errors: ['invalid_api_key'],
  }),
  getModel: defineRoute({
    ...wire,
    operationId: 'getModel',
    method: 'GET',
    path: '/v1/models/{model}',
    takesRest: true,
    summary: 'Get a model',
    description: 'Answers 404 for a model that this server does not have.',
    request: { params: gateway.modelParams },
    responses: { 200: json('The model.', gateway.modelSchema) },
    errors: ['invalid_api_key', 'invalid_request_error', 'model_not_found'],
  }),
  getOwnKey: defineRoute({
    ...wire,
    operationId: 'getOwnKey',
    method: 'GET',
    path: '/v1/key',
    summary: 'Get the API key of the request, and the available balance of its wallet',
    description: 'For clients that have no console session.',
    request: {},
    responses: { 200: json('The key.', keys.ownKeySchema) },
    errors: ['invalid_api_key'],
  }),
} as const;

const priceRoutes = {
  listPrices: defineRoute({
    service,
    errorShape: 'detail',
    tag: 'API-key gateway',
    caller: 'public',
    operationId: 'listPrices',
    method: 'GET',
    path: '/v1/gateway/prices',
    summary: 'List the prices of inference',
    description:
      'Prices of all models with a certified route, and what requests of connected apps take from a plan. Where a model has several routes, the highest of their prices. The same for people: `/prices`.',
    request: {},
    responses: { 200: json('The prices.', priceListSchema) },
    errors: [],
  }),
} as const;

const provenanceRoutes = {
  getProvenanceJwks: defineRoute({
    service,
    errorShape: 'detail',
    tag: 'Provenance',
    caller: 'public',
    crossOrigin: true,
    operationId: 'getProvenanceJwks',
    method: 'GET',
    path: '/v1/provenance/jwks',
    summary: 'Get the public keys of proofs of provenance (RFC 7517)',
    description: 'Keys stay published after their rotation, so that old proofs can still be verified.',
    request: {},
    responses: { 200: json('The key set.', jwksSchema) },
    errors: [],
  }),
} as const;

export const inferenceGatewayRoutes = {
  ...delegatedRoutes,
  ...gatewayRoutes,
  ...keyRoutes,
  ...priceRoutes,
  ...provenanceRoutes,
} as const;

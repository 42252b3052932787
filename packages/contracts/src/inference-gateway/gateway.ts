import { z } from 'zod';

/** Characters of the name that callers give a model. */
export const MODEL_NAME_CHARACTERS_MAX = 128;

/** Modes of the compliance contract that a request may name in `X-Svc-Compliance`. */
export const complianceModes = ['2', 'headers'] as const;

/** Headers of API-key requests. */
export const complianceHeaders = z.object({ 'x-svc-compliance': z.string().optional() });

/** Proof of who served a request. */
export const complianceMetadataSchema = z
  .object({
    schema_version: z.literal('2'),
    provider: z.string(),
    model: z.string(),
    data_zone: z.literal('EU'),
    ingress_region: z.string(),
    upstream_request_id: z.string(),
    gateway_request_id: z.string(),
    timestamp: z.string(),
    provider_raw: z.looseObject({}).optional(),
  })
  .meta({ id: 'ComplianceMetadata' });

/** Proof of who served a request. */
export type ComplianceMetadata = z.infer<typeof complianceMetadataSchema>;

const extensionsSchema = z.object({ compliance_metadata: complianceMetadataSchema }).optional();

/** A request in the common wire format: only what the gateway needs is looked at, the rest passes as it came. */
export const gatewayChatRequestSchema = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(z.looseObject({})).min(1),
    stream: z.boolean().nullish(),
  })
  .meta({ id: 'GatewayChatRequest' });

/** A legacy text completion request. */
export const gatewayCompletionRequestSchema = z
  .looseObject({
    model: z.string().min(1),
    prompt: z.unknown(),
    stream: z.boolean().nullish(),
  })
  .meta({ id: 'GatewayCompletionRequest' });

/** An embeddings request. */
export const gatewayEmbeddingsRequestSchema = z
  .looseObject({ model: z.string().min(1), input: z.unknown() })
  .meta({ id: 'GatewayEmbeddingsRequest' });

/** An answer in the common wire format, with the proof of who served it. */
export const gatewayAnswerSchema = z
  .looseObject({ object: z.string().optional(), extensions: extensionsSchema })
  .meta({ id: 'GatewayAnswer' });

/** A model that callers can name. */
export const modelSchema = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .meta({ id: 'Model' });

/** A model that callers can name. */
export type Model = z.infer<typeof modelSchema>;

/** Models that this gateway serves. */
export const modelListSchema = z
  .object({ object: z.literal('list'), data: z.array(modelSchema) })
  .meta({ id: 'ModelList' });

/** The name of a model in a path; names with a slash can be used in bodies only. */
export const modelParams = z.object({ model: z.string().min(1).max(MODEL_NAME_CHARACTERS_MAX) });

import { z } from 'zod';
import { modelFacts } from './prices.ts';
import { provenanceHeader, provenanceSchema } from './provenance.ts';

/** Characters of a model name in a request. */
export const MODEL_NAME_CHARACTERS_MAX = 128;

/** Values of `X-Svc-Compliance`. */
export const complianceModes = ['2', 'headers'] as const;

/** Headers of API-key requests. */
export const gatewayHeaders = z.object({
  'x-svc-compliance': z.string().optional(),
  'idempotency-key': z.string().min(1).max(255).optional(),
});

/** Headers of API-key requests whose answer is one message. */
export const messageHeaders = gatewayHeaders.extend({ 'x-svc-provenance': provenanceHeader });

/** Proof of the provider and model that served a request. */
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

export type ComplianceMetadata = z.infer<typeof complianceMetadataSchema>;

/** Members that the gateway adds to an answer. */
export const extensionsSchema = z
  .object({ compliance_metadata: complianceMetadataSchema, provenance: provenanceSchema.optional() })
  .optional();

/** A chat request in the common wire format. The gateway reads these fields and passes all others unchanged. */
export const gatewayChatRequestSchema = z
  .looseObject({
    model: z.string().min(1),
    messages: z.array(z.looseObject({})).min(1),
    stream: z.boolean().nullish(),
  })
  .meta({ id: 'GatewayChatRequest' });

export const gatewayCompletionRequestSchema = z
  .looseObject({
    model: z.string().min(1),
    prompt: z.unknown(),
    stream: z.boolean().nullish(),
  })
  .meta({ id: 'GatewayCompletionRequest' });

export const gatewayEmbeddingsRequestSchema = z
  .looseObject({ model: z.string().min(1), input: z.unknown() })
  .meta({ id: 'GatewayEmbeddingsRequest' });

/** A response in the common wire format, with compliance metadata. */
export const gatewayAnswerSchema = z
  .looseObject({ object: z.string().optional(), extensions: extensionsSchema })
  .meta({ id: 'GatewayAnswer' });

export const modelSchema = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string(), ...modelFacts })
  .meta({ id: 'Model' });

export type Model = z.infer<typeof modelSchema>;

export const modelListSchema = z
  .object({ object: z.literal('list'), data: z.array(modelSchema) })
  .meta({ id: 'ModelList' });

/** Model name in a path. Names with a slash work only in bodies. */
export const modelParams = z.object({ model: z.string().min(1).max(MODEL_NAME_CHARACTERS_MAX) });

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

const freeObject = z.looseObject({});

/**
 * A request of the Responses format. The gateway stores nothing, so it refuses `store: true`, `previous_response_id`,
 * `background` and built-in tools.
 */
export const responseRequestSchema = z
  .looseObject({
    model: z.string().min(1),
    input: z.union([z.string(), z.array(freeObject).min(1)]),
    instructions: z.string().nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
    tool_choice: z.union([z.string(), freeObject]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    stream: z.boolean().nullish(),
    store: z.boolean().nullish(),
    metadata: z.record(z.string(), z.string()).nullish(),
  })
  .meta({ id: 'ResponseRequest' });

export type ResponseRequest = z.output<typeof responseRequestSchema>;

/** A response, with compliance metadata. */
export const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: z.string(),
    output: z.array(freeObject),
    extensions: extensionsSchema,
  })
  .meta({ id: 'Response' });

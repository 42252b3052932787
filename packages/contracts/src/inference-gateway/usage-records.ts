import { z } from 'zod';
import { delegatedServiceSchema } from '../billing/admissions.ts';
import { reservationStateSchema } from '../billing/usage.ts';
import { idSchema } from '../core/ids.ts';
import { pageQuery } from '../core/lists.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

/** Kinds of inference that a route serves. */
export const routeServiceSchema = z.enum(['chat', 'completions', 'embeddings', 'audio_transcription']);

/** Metadata of one API-key request, without its content. */
export const gatewayUsageRecordSchema = z
  .object({
    request_id: idSchema('req'),
    key_id: idSchema('key'),
    model: z.string().nullable().meta({ description: 'Name in the request.' }),
    upstream_model: z.string().nullable().meta({ description: 'Name in the answer and the compliance metadata.' }),
    service: routeServiceSchema,
    provider: z.string().nullable(),
    route_id: z.string().nullable(),
    data_zone: z.string().nullable(),
    ingress_region: z.string(),
    upstream_request_id: z.string().nullable(),
    input_tokens: z.int().nullable(),
    output_tokens: z.int().nullable(),
    cached_input_tokens: z
      .int()
      .nullable()
      .meta({ description: 'Part of the input that the provider read from its cache.' }),
    reasoning_tokens: z.int().nullable().meta({ description: 'Part of the output that the model thought with.' }),
    cost_micros: nonNegativeMicrosSchema.nullable(),
    status: z.int(),
    state: reservationStateSchema,
    streamed: z.boolean(),
    started_at: timestampSchema,
    first_event_ms: z.int().nullable(),
    duration_ms: z.int(),
  })
  .meta({ id: 'GatewayUsageRecord' });

/** Query of the usage list. */
export const gatewayUsageQuerySchema = z.object({
  ...pageQuery,
  key_id: z.string().min(1).max(128).optional(),
  from: timestampInputSchema.optional(),
  to: timestampInputSchema.optional(),
});

/** Outcome of one request for billing: the counts behind its cost, without content. */
export const usageFactSchema = z.object({
  request_id: idSchema('req'),
  kind: z.enum(['delegated', 'api_key']),
  svc_user_id: idSchema('usr'),
  client_id: idSchema('app').nullable(),
  key_id: idSchema('key').nullable(),
  service: z.union([delegatedServiceSchema, routeServiceSchema]),
  outcome: z.enum(['settled', 'released', 'uncertain']),
  cost_micros: nonNegativeMicrosSchema,
  input_tokens: z.int().min(0).nullable(),
  output_tokens: z.int().min(0).nullable(),
  cached_input_tokens: z.int().min(0).nullish(),
  reasoning_tokens: z.int().min(0).nullish(),
  audio_ms: z.int().min(0).nullable(),
  finished_at: timestampSchema,
});

export type UsageFact = z.infer<typeof usageFactSchema>;

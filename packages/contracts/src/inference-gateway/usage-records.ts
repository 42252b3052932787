import { z } from 'zod';
import { delegatedServiceSchema, spentLeaseSchema } from '../billing/admissions.ts';
import { reservationStateSchema } from '../billing/usage.ts';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { pageQuery } from '../core/route.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';
import { MODEL_NAME_CHARACTERS_MAX } from './gateway.ts';

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
    reasoning_tokens: z.int().nullable().meta({ description: 'Part of the output that the model spent on reasoning.' }),
    cost_micros: nonNegativeMicrosSchema.nullable(),
    status: z.int(),
    state: reservationStateSchema,
    streamed: z.boolean(),
    started_at: timestampSchema,
    first_event_ms: z.int().nullable(),
    duration_ms: z.int(),
  })
  .meta({ id: 'GatewayUsageRecord' });

const usageFilters = {
  key_id: z.string().min(1).max(128).optional(),
  model: z.string().min(1).max(MODEL_NAME_CHARACTERS_MAX).optional(),
  from: timestampInputSchema.optional(),
  to: timestampInputSchema.optional(),
};

/** Query of the usage list. */
export const gatewayUsageQuerySchema = z.object({
  ...pageQuery,
  ...usageFilters,
  status: z.int().min(100).max(599).optional().meta({ description: 'HTTP status of the answer.' }),
});

/** Query of the usage summary. */
export const usageSummaryQuerySchema = z.object({
  group_by: z.enum(['key', 'model', 'day']),
  from: usageFilters.from,
  to: usageFilters.to,
});

const summaryCounts = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_micros: nonNegativeMicrosSchema,
};

/** One group of the usage summary. `group_by` selects its first field. */
export const usageSummaryGroupSchema = z
  .union([
    z.object({ key_id: idSchema('key'), ...summaryCounts }),
    z.object({ model: z.string(), ...summaryCounts }),
    z.object({ day: z.iso.date().meta({ description: 'In UTC.' }), ...summaryCounts }),
  ])
  .meta({ id: 'UsageSummaryGroup' });

/** Outcome of one request, for billing: its cost and the counts behind it, without content. */
export const usageFactSchema = z.object({
  request_id: idSchema('req'),
  kind: z.enum(['delegated', 'api_key']),
  svc_user_id: idSchema('usr'),
  client_id: clientIdSchema.nullable(),
  key_id: idSchema('key').nullable(),
  service: z.union([delegatedServiceSchema, routeServiceSchema]),
  outcome: z.enum(['settled', 'released', 'uncertain']),
  cost_micros: nonNegativeMicrosSchema,
  input_tokens: z.int().min(0).nullable(),
  output_tokens: z.int().min(0).nullable(),
  cached_input_tokens: z.int().min(0).nullish(),
  reasoning_tokens: z.int().min(0).nullish(),
  audio_ms: z.int().min(0).nullable(),
  lease: spentLeaseSchema.optional().meta({ description: 'For API-key requests: the lease that pays.' }),
  started_at: timestampSchema,
  finished_at: timestampSchema,
});

export type UsageFact = z.infer<typeof usageFactSchema>;

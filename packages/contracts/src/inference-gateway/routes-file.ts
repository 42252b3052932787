import { z } from 'zod';
import { nonNegativeMicrosSchema } from '../core/money.ts';
import { MODEL_NAME_CHARACTERS_MAX } from './gateway.ts';

const nameSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/);

/** Provider kinds. The gateway handles how each differs from the common wire format; `common` does not differ. */
export const providerKindSchema = z.enum(['common', 'azure-openai', 'mistral', 'ovhcloud', 'scaleway', 'vllm']);

export type ProviderKindName = z.infer<typeof providerKindSchema>;

const providerSchema = z.strictObject({
  kind: providerKindSchema.default('common'),
  base_url: z.url({ protocol: /^https?$/ }),
  /** Only for the dated API of `azure-openai`; the API under `/openai/v1` has no versions. */
  api_version: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(-preview)?$/)
    .optional(),
  api_key_env: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  name: z.string().min(1).max(80),
});

/** A date means its midnight in UTC. */
const instantSchema = z.union([z.iso.date(), z.iso.datetime()], {
  error: 'must be a date (2026-09-01) or a time in UTC (2026-09-01T12:00:00Z)',
});

const certificationSchema = z.strictObject({
  reference: z.string().min(1),
  certified_at: instantSchema,
  expires_at: instantSchema,
});

const tokenPriceSchema = z
  .strictObject({
    input_micros_per_million: nonNegativeMicrosSchema,
    output_micros_per_million: nonNegativeMicrosSchema.default(0),
    /** Price of input that the provider read from its cache. Default: the input price. */
    cached_input_micros_per_million: nonNegativeMicrosSchema.optional(),
  })
  // Holds are computed at the input price and must cover the maximum cost.
  .refine(({ input_micros_per_million: input, cached_input_micros_per_million: cached = 0 }) => cached <= input, {
    path: ['cached_input_micros_per_million'],
    error: 'must not be above input_micros_per_million',
  });

/** Output tokens assumed for a request without its own limit. */
const OUTPUT_TOKENS_DEFAULT = 4_096;
/** Exceeds the context of any model on offer. */
export const CONTEXT_TOKENS_DEFAULT = 2_000_000;

/** Token limits of one request: output if the request sets no limit, and input and output together. */
const tokenLimits = {
  output_tokens_max: z.int().min(1).max(10_000_000).default(OUTPUT_TOKENS_DEFAULT),
  context_tokens_max: z.int().min(1).max(100_000_000).default(CONTEXT_TOKENS_DEFAULT),
};

const commonRoute = {
  id: nameSchema,
  model: z.string().min(1).max(MODEL_NAME_CHARACTERS_MAX),
  provider: nameSchema,
  upstream_model: z.string().min(1).max(256),
  /** Only for `azure-openai`: name of the deployment if it differs from the model's. */
  deployment: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .optional(),
  data_zone: z.literal('EU'),
  active: z.boolean(),
  certification: certificationSchema.optional(),
};

const routeSchema = z.discriminatedUnion('service', [
  z.strictObject({ ...commonRoute, ...tokenLimits, service: z.literal('chat'), price: tokenPriceSchema }),
  z.strictObject({ ...commonRoute, ...tokenLimits, service: z.literal('completions'), price: tokenPriceSchema }),
  z.strictObject({ ...commonRoute, ...tokenLimits, service: z.literal('embeddings'), price: tokenPriceSchema }),
  z.strictObject({
    ...commonRoute,
    service: z.literal('audio_transcription'),
    price: z.strictObject({ micros_per_second: nonNegativeMicrosSchema }),
  }),
]);

/** Schema of the routes file (`ROUTES_FILE`, YAML). The gateway checks rules that span several entries. */
export const routesFileSchema = z.strictObject({
  providers: z.record(nameSchema, providerSchema),
  routes: z.array(routeSchema),
  delegated: z.strictObject({
    chat: z.array(nameSchema).default([]),
    audio_transcription: z.array(nameSchema).default([]),
  }),
});

export type RoutesFile = z.infer<typeof routesFileSchema>;

/** A route of the routes file. */
export type ConfiguredRoute = RoutesFile['routes'][number];

import { z } from 'zod';
import { nonNegativeMicrosSchema } from '../core/money.ts';

/** Price of tokens, in micros of the deployment's currency per million. */
const tokenPriceSchema = z
  .object({
    input_micros_per_million: nonNegativeMicrosSchema,
    cached_input_micros_per_million: nonNegativeMicrosSchema.meta({
      description: 'Of input that the provider read from its cache.',
    }),
    output_micros_per_million: nonNegativeMicrosSchema,
  })
  .meta({ id: 'TokenPrice' });

/** Price of audio. */
const audioPriceSchema = z.object({ micros_per_second: nonNegativeMicrosSchema }).meta({ id: 'AudioPrice' });

/** Facts about a model beyond the common wire format. Clients that do not know them ignore them. */
export const modelFacts = {
  context_length: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'Most input and output tokens of a request together. Absent if the operator states none.' }),
  max_output_tokens: z.int().min(1).meta({ description: 'Output tokens of a request without an output limit.' }),
  price: tokenPriceSchema.extend({
    currency: z.string().meta({ description: 'ISO 4217 code.' }),
  }),
};

/** A model and its price. */
const pricedModelSchema = z
  .object({
    id: z.string(),
    service: z.enum(['chat', 'completions', 'embeddings']),
    ...modelFacts,
    price: tokenPriceSchema,
  })
  .meta({ id: 'PricedModel' });

/** All prices of inference. */
export const priceListSchema = z
  .object({
    currency: z.string(),
    data: z.array(pricedModelSchema).meta({ description: 'Models for API keys, paid from the wallet.' }),
    delegated: z
      .object({ chat: tokenPriceSchema.nullable(), audio_transcription: audioPriceSchema.nullable() })
      .meta({ description: 'What a request of a connected app takes from the user’s plan. Null: not served.' }),
  })
  .meta({ id: 'PriceList' });

export type PriceList = z.infer<typeof priceListSchema>;

import { z } from 'zod';
import { planServicesSchema } from '../billing/plans.ts';
import { provenanceHeader, provenanceSchema } from './provenance.ts';

const freeObject = z.looseObject({});
/** An integer of any size, such as a 64-bit seed. The provider receives it exactly as written. */
const integer = z.number().multipleOf(1).meta({ type: 'integer' });

/** A delegated chat request. The server chooses the model and rejects unknown fields. */
export const chatRequestSchema = z
  .strictObject({
    messages: z
      .array(freeObject)
      .min(1)
      .meta({ description: 'The conversation so far: each with `role` and `content`.' }),
    stream: z.boolean().default(false).meta({ description: 'With true, the answer comes as server-sent events.' }),
    stream_options: freeObject
      .nullish()
      .meta({ description: '`include_usage` adds the token counts to the last event.' }),
    temperature: z.number().nullish().meta({ description: 'Randomness of the choice of words. Low is predictable.' }),
    top_p: z.number().nullish().meta({ description: 'Share of the likeliest words to choose from.' }),
    max_tokens: integer.gt(0).nullish().meta({ description: 'Older name of `max_completion_tokens`.' }),
    max_completion_tokens: integer.gt(0).nullish().meta({
      description: 'Most tokens to answer with. A small number also holds less of the user’s budget.',
    }),
    stop: z
      .union([z.string(), z.array(z.string())])
      .nullish()
      .meta({ description: 'Texts at which the answer ends.' }),
    tools: z.array(freeObject).nullish().meta({ description: 'Functions that the model may ask your app to call.' }),
    tool_choice: z.union([z.string(), freeObject]).nullish().meta({
      description: '`none`, `auto`, `required`, or the one function to call.',
    }),
    parallel_tool_calls: z.boolean().nullish().meta({ description: 'Whether one answer may ask for several calls.' }),
    response_format: freeObject.nullish().meta({ description: 'Asks for JSON, by a schema if one is given.' }),
    reasoning_effort: z.string().nullish().meta({ description: 'How long a reasoning model may think.' }),
    seed: integer.nullish().meta({ description: 'Makes a repeated request likelier to get the same answer.' }),
    presence_penalty: z.number().nullish().meta({ description: 'Discourages subjects that were mentioned before.' }),
    frequency_penalty: z.number().nullish().meta({ description: 'Discourages words that were used often.' }),
  })
  .meta({ id: 'ChatRequest' });

export type ChatRequest = z.infer<typeof chatRequestSchema>;

/** Model name in delegated answers. */
export const PUBLIC_MODEL = 'svc';

/** Token counts in the common wire format. */
export const wireUsageSchema = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int().optional(),
  total_tokens: z.int(),
});

/** A chat completion in the common wire format, under the public model name. */
export const chatCompletionSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.literal(PUBLIC_MODEL),
    choices: z.array(z.looseObject({ index: z.int(), finish_reason: z.string().nullable() })),
    usage: wireUsageSchema.optional(),
    extensions: z.object({ provenance: provenanceSchema }).optional(),
  })
  .meta({ id: 'ChatCompletion' });

/** Services offered both by the server and by the user's plan. */
export const capabilitiesSchema = z
  .object({ object: z.literal('capabilities'), services: planServicesSchema })
  .meta({ id: 'InferenceCapabilities' });

/** Fields of the transcription form except `file`. Form values are converted to these types. */
export const transcriptionFieldsSchema = z.strictObject({
  language: z
    .string()
    .regex(/^[a-z]{2}$/)
    .nullish()
    .meta({ description: 'Language of the speech (ISO 639-1).' }),
  prompt: z.string().max(4000).nullish().meta({ description: 'Names and terms that the speech contains.' }),
  temperature: z.number().min(0).max(1).nullish().meta({ description: 'Randomness of the choice of words.' }),
  response_format: z
    .enum(['json', 'verbose_json'])
    .default('json')
    .meta({ description: '`verbose_json` adds language, duration and segments.' }),
});

export const transcriptionFormSchema = transcriptionFieldsSchema
  .extend({
    file: z.string().meta({ format: 'binary', description: 'One non-empty audio file, at most 25,000,000 bytes.' }),
  })
  .meta({ id: 'TranscriptionRequest' });

/** A transcription; `verbose_json` adds language, duration and segments. */
export const transcriptionSchema = z.looseObject({ text: z.string() }).meta({ id: 'Transcription' });

export const idempotencyHeaders = z.object({ 'idempotency-key': z.string().min(1).max(255).optional() });

/** Headers of a chat request. */
export const chatHeaders = idempotencyHeaders.extend({ 'x-svc-provenance': provenanceHeader });

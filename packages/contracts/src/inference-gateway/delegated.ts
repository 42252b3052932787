import { z } from 'zod';
import { planServicesSchema } from '../billing/plans.ts';

const freeObject = z.looseObject({});
/** An integer of any size, such as a 64-bit seed. The provider receives it exactly as written. */
const integer = z.number().multipleOf(1).meta({ type: 'integer' });

/** A delegated chat request. The server chooses the model and rejects unknown fields. */
export const chatRequestSchema = z
  .strictObject({
    messages: z.array(freeObject).min(1),
    stream: z.boolean().default(false),
    stream_options: freeObject.nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    max_tokens: integer.gt(0).nullish(),
    max_completion_tokens: integer.gt(0).nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    tools: z.array(freeObject).nullish(),
    tool_choice: z.union([z.string(), freeObject]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: freeObject.nullish(),
    reasoning_effort: z.string().nullish(),
    seed: integer.nullish(),
    presence_penalty: z.number().nullish(),
    frequency_penalty: z.number().nullish(),
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
    .nullish(),
  prompt: z.string().max(4000).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  response_format: z.enum(['json', 'verbose_json']).default('json'),
});

export const transcriptionFormSchema = transcriptionFieldsSchema
  .extend({
    file: z.string().meta({ format: 'binary', description: 'One non-empty audio file, at most 25,000,000 bytes.' }),
  })
  .meta({ id: 'TranscriptionRequest' });

/** A transcription; `verbose_json` adds language, duration and segments. */
export const transcriptionSchema = z.looseObject({ text: z.string() }).meta({ id: 'Transcription' });

export const idempotencyHeaders = z.object({ 'idempotency-key': z.string().min(1).max(255).optional() });

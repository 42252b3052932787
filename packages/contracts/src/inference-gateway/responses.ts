import { z } from 'zod';
import { extensionsSchema } from './gateway.ts';

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

import { z } from 'zod';

/** A part of a message's content, such as `{type: 'text', text}`. */
export interface ContentPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message in the common chat-completions wire format. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?: string | readonly ContentPart[] | null | undefined;
  readonly [field: string]: unknown;
}

type FreeObject = Readonly<Record<string, unknown>>;

/** A chat request in the wire format. The service chooses the model and rejects any other field. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly stream_options?: { readonly include_usage?: boolean } | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly max_tokens?: number | null | undefined;
  readonly max_completion_tokens?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly tools?: readonly FreeObject[] | null | undefined;
  readonly tool_choice?: string | FreeObject | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly response_format?: FreeObject | null | undefined;
  readonly reasoning_effort?: string | null | undefined;
  readonly seed?: number | null | undefined;
  readonly presence_penalty?: number | null | undefined;
  readonly frequency_penalty?: number | null | undefined;
}

const usageSchema = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int().optional(),
  total_tokens: z.int(),
});

const toolCallSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

const messageSchema = z.looseObject({
  role: z.string(),
  content: z.string().nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
});

export const chatCompletionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), message: messageSchema, finish_reason: z.string().nullable() })),
  usage: usageSchema.nullish(),
});

/** A chat completion. Its model is always `svc`. */
export type ChatCompletion = z.infer<typeof chatCompletionSchema>;

const toolCallDeltaSchema = z.looseObject({
  index: z.int(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).optional(),
});

const deltaSchema = z.looseObject({
  role: z.string().nullish(),
  content: z.string().nullish(),
  tool_calls: z.array(toolCallDeltaSchema).nullish(),
});

export const chatChunkSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), delta: deltaSchema, finish_reason: z.string().nullish() })),
  usage: usageSchema.nullish(),
});

/** A chunk of a streamed completion. A chunk without choices carries only usage. */
export type ChatChunk = z.infer<typeof chatChunkSchema>;

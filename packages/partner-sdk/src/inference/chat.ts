import {
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  openObject,
  optional,
  type Shape,
  text,
} from '../shape.ts';

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

const nullish = <T>(shape: Shape<T>): Shape<T | null | undefined> => optional(nullable(shape));

const usageShape = openObject({
  prompt_tokens: integer(),
  completion_tokens: optional(integer()),
  total_tokens: integer(),
});

const toolCallShape = openObject({
  id: text(),
  type: text(),
  function: optional(openObject({ name: text(), arguments: text() })),
});

const messageShape = openObject({
  role: text(),
  content: nullish(text()),
  tool_calls: nullish(list(toolCallShape)),
});

const extensionsShape = object({ provenance: optional(text()) });

export const chatCompletionShape = openObject({
  id: text(),
  object: oneOf('chat.completion'),
  created: integer(),
  model: text(),
  choices: list(openObject({ index: integer(), message: messageShape, finish_reason: nullable(text()) })),
  usage: nullish(usageShape),
  extensions: optional(extensionsShape),
});

/** A chat completion. Its model is always `svc`. */
export type ChatCompletion = Infer<typeof chatCompletionShape>;

const toolCallDeltaShape = openObject({
  index: integer(),
  id: nullish(text()),
  function: optional(openObject({ name: nullish(text()), arguments: nullish(text()) })),
});

const deltaShape = openObject({
  role: nullish(text()),
  content: nullish(text()),
  tool_calls: nullish(list(toolCallDeltaShape)),
});

export const chatChunkShape = openObject({
  id: text(),
  object: oneOf('chat.completion.chunk'),
  created: integer(),
  model: text(),
  choices: list(openObject({ index: integer(), delta: deltaShape, finish_reason: nullish(text()) })),
  usage: nullish(usageShape),
  extensions: optional(extensionsShape),
});

/** A chunk of a streamed completion. A chunk without choices carries only usage or a proof. */
export type ChatChunk = Infer<typeof chatChunkShape>;

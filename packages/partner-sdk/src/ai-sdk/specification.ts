/**
 * The part of the AI SDK's provider specification that this package reads and writes. Version 3 is what version 6 of
 * `ai` speaks and version 7 accepts as it is; version 5 speaks version 2. The types are written out here because no
 * release of `@ai-sdk/provider` declares both and suits all three.
 */
export interface CallOptions {
  readonly prompt: readonly PromptMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly stopSequences?: string[] | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly seed?: number | undefined;
  /** Sent by version 7 of `ai`. */
  readonly reasoning?: string | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
  readonly includeRawChunks?: boolean | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json'; readonly schema?: unknown; readonly name?: string; readonly description?: string };

export type Tool =
  | {
      readonly type: 'function';
      readonly name: string;
      readonly description?: string | undefined;
      readonly inputSchema: unknown;
      readonly strict?: boolean | undefined;
    }
  | { readonly type: 'provider' | 'provider-defined'; readonly id: string };

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly toolName: string };

export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly (TextPart | FilePart)[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly (ToolResultPart | OtherToolPart)[] };

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  readonly filename?: string | undefined;
  /** Tagged where version 7 of `ai` has more than bytes and addresses to send. */
  readonly data: string | Uint8Array | URL | { readonly type: string; readonly text?: string };
}

export type AssistantPart =
  | TextPart
  | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly input: unknown }
  | { readonly type: 'file' | 'reasoning' | 'reasoning-file' | 'custom' | 'tool-result' };

export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly output: ToolResultOutput;
}

export interface OtherToolPart {
  readonly type: 'tool-approval-response';
}

export type ToolResultOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json' | 'content'; readonly value: unknown }
  | { readonly type: 'execution-denied'; readonly reason?: string | undefined };

export type Content =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

export interface FinishReason {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  raw: string | undefined;
}

export interface Usage {
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: undefined;
  };
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined };
}

export interface Warning {
  type: 'unsupported';
  feature: string;
}

export interface ResponseMetadata {
  id: string;
  timestamp: Date;
  modelId: string;
}

export interface GenerateResult {
  content: Content[];
  finishReason: FinishReason;
  usage: Usage;
  request: { body: unknown };
  response: ResponseMetadata;
  warnings: Warning[];
}

export interface StreamResult<Part = StreamPart> {
  stream: ReadableStream<Part>;
  request: { body: unknown };
}

/** A part of a stream that is the same in both versions. */
export type CommonStreamPart =
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | ({ type: 'response-metadata' } & ResponseMetadata)
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown };

export type StreamPart =
  | CommonStreamPart
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'finish'; finishReason: FinishReason; usage: Usage };

interface ModelName {
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
}

/** A language model of version 3 of the specification. */
export interface SvcModel extends ModelName {
  readonly specificationVersion: 'v3';
  doGenerate(options: CallOptions): Promise<GenerateResult>;
  doStream(options: CallOptions): Promise<StreamResult>;
}

export type FinishReasonV2 = FinishReason['unified'] | 'unknown';

export interface UsageV2 {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  totalTokens: number | undefined;
  reasoningTokens: number | undefined;
  cachedInputTokens: number | undefined;
}

export interface WarningV2 {
  type: 'other';
  message: string;
}

export interface GenerateResultV2 extends Omit<GenerateResult, 'finishReason' | 'usage' | 'warnings'> {
  finishReason: FinishReasonV2;
  usage: UsageV2;
  warnings: WarningV2[];
}

export type StreamPartV2 =
  | CommonStreamPart
  | { type: 'stream-start'; warnings: WarningV2[] }
  | { type: 'finish'; finishReason: FinishReasonV2; usage: UsageV2 };

/** A language model of version 2 of the specification. */
export interface SvcModelV2 extends ModelName {
  readonly specificationVersion: 'v2';
  doGenerate(options: CallOptions): Promise<GenerateResultV2>;
  doStream(options: CallOptions): Promise<StreamResult<StreamPartV2>>;
}

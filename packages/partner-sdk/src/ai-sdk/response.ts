import type { ChatChunk, ChatCompletion } from '../inference/chat.ts';
import type { ChatStream } from '../inference/chat-stream.ts';
import { paths, type SvcClient } from '../inference/svc-client.ts';
import { SvcError } from '../inference/svc-error.ts';
import { accepts, integer, object } from '../shape.ts';
import { toRequest } from './request.ts';
import type {
  CallOptions,
  FinishReason,
  ResponseMetadata,
  StreamPart,
  StreamResult,
  Usage,
  Warning,
} from './specification.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason['unified']>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
};

export const toFinishReason = (raw: string | null | undefined): FinishReason => ({
  unified: FINISH_REASONS[raw ?? ''] ?? 'other',
  raw: raw ?? undefined,
});

const promptDetailsShape = object({ prompt_tokens_details: object({ cached_tokens: integer(0) }) });
const completionDetailsShape = object({ completion_tokens_details: object({ reasoning_tokens: integer(0) }) });

export const toUsage = (usage: ChatCompletion['usage']): Usage => {
  const input = usage?.prompt_tokens;
  const output = usage?.completion_tokens;
  const cached = accepts(promptDetailsShape, usage) ? usage.prompt_tokens_details.cached_tokens : undefined;
  const reasoning = accepts(completionDetailsShape, usage)
    ? usage.completion_tokens_details.reasoning_tokens
    : undefined;
  return {
    inputTokens: { total: input, noCache: without(input, cached), cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: without(output, reasoning), reasoning },
  };
};

const without = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : total - (part ?? 0);

export const toResponseMetadata = ({
  id,
  created,
  model,
}: Pick<ChatCompletion, 'id' | 'created' | 'model'>): ResponseMetadata => ({
  id,
  timestamp: new Date(created * 1000),
  modelId: model,
});

/** Returns the thoughts of models that show them. */
export const reasoningOf = (message: Readonly<Record<string, unknown>>): string => {
  const { reasoning_content: reasoning } = message;
  return typeof reasoning === 'string' ? reasoning : '';
};

/** Marks by which every version of the AI SDK recognizes its own errors. */
const MARKS = ['vercel.ai.error', 'vercel.ai.error.AI_APICallError'].map((name) => [Symbol.for(name), true] as const);

/** Marks an `SvcError` as an error of a call, so that the AI SDK repeats it if `isRetryable` says so. */
export const asCallError = (error: unknown): unknown => {
  if (!(error instanceof SvcError)) return error;
  const { status, retryAfterSeconds } = error;
  const responseHeaders = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return Object.assign(error, Object.fromEntries(MARKS), { url: paths.chat, statusCode: status, responseHeaders });
};

/** Requests a streamed completion. Rejects if the service refuses it; a later failure is a part of the stream. */
export const stream = async (client: SvcClient, call: CallOptions): Promise<StreamResult> => {
  const { request, warnings } = toRequest(call);
  const body = { ...request, stream_options: { include_usage: true } };
  const chunks = client.streamChat(body, { signal: call.abortSignal });
  await chunks.opened().catch((error: unknown) => {
    throw asCallError(error);
  });
  return {
    stream: toReadable(toParts(chunks, { warnings, isRaw: call.includeRawChunks === true })),
    request: { body },
  };
};

const toReadable = <T>(items: AsyncGenerator<T, void, undefined>): ReadableStream<T> =>
  new ReadableStream<T>({
    pull: async (controller) => {
      const { done, value } = await items.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => {
      await items.return();
    },
  });

interface PartsOptions {
  readonly warnings: Warning[];
  readonly isRaw: boolean;
}

async function* toParts(
  chunks: ChatStream,
  { warnings, isRaw }: PartsOptions,
): AsyncGenerator<StreamPart, void, undefined> {
  yield { type: 'stream-start', warnings };
  const blocks = createBlocks();
  let usage: ChatChunk['usage'];
  let finishReason = toFinishReason(undefined);
  let isFirst = true;
  try {
    for await (const chunk of chunks) {
      if (isRaw) yield { type: 'raw', rawValue: chunk };
      if (isFirst) yield { type: 'response-metadata', ...toResponseMetadata(chunk) };
      isFirst = false;
      usage = chunk.usage ?? usage;
      const [choice] = chunk.choices;
      if (choice === undefined) continue;
      if (choice.finish_reason) finishReason = toFinishReason(choice.finish_reason);
      yield* blocks.read(choice.delta);
    }
  } catch (error) {
    finishReason = { unified: 'error', raw: undefined };
    yield { type: 'error', error: asCallError(error) };
  }
  if (finishReason.unified !== 'error') yield* blocks.end();
  yield { type: 'finish', finishReason, usage: toUsage(usage) };
}

type Delta = ChatChunk['choices'][number]['delta'];
type BlockType = 'text' | 'reasoning';

interface ToolCall {
  readonly id: string;
  readonly toolName: string;
  input: string;
}

/** Turns deltas into blocks: text and reasoning by turns, and tool calls side by side. */
const createBlocks = () => {
  const calls = new Map<number, ToolCall>();
  let open: { readonly type: BlockType; readonly id: string } | undefined;
  let opened = 0;

  function* close(): Generator<StreamPart> {
    if (open !== undefined) yield { type: `${open.type}-end`, id: open.id };
    open = undefined;
  }
  function* write(type: BlockType, delta: string): Generator<StreamPart> {
    if (delta === '') return;
    if (open?.type !== type) {
      yield* close();
      open = { type, id: `${type}-${opened}` };
      opened += 1;
      yield { type: `${type}-start`, id: open.id };
    }
    yield { type: `${type}-delta`, id: open.id, delta };
  }
  function* call({ index, id, function: called }: NonNullable<Delta['tool_calls']>[number]) {
    let known = calls.get(index);
    if (known === undefined) {
      known = { id: id ?? `call-${index}`, toolName: called?.name ?? '', input: '' };
      calls.set(index, known);
      yield { type: 'tool-input-start' as const, id: known.id, toolName: known.toolName };
    }
    const delta = called?.arguments ?? '';
    known.input += delta;
    if (delta !== '') yield { type: 'tool-input-delta' as const, id: known.id, delta };
  }

  return {
    *read(delta: Delta): Generator<StreamPart> {
      yield* write('reasoning', reasoningOf(delta));
      yield* write('text', delta.content ?? '');
      for (const each of delta.tool_calls ?? []) {
        yield* close();
        yield* call(each);
      }
    },
    *end(): Generator<StreamPart> {
      yield* close();
      for (const { id, toolName, input } of calls.values()) {
        yield { type: 'tool-input-end', id };
        yield { type: 'tool-call', toolCallId: id, toolName, input };
      }
    },
  };
};

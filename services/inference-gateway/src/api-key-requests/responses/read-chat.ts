import { JsonShape } from '../../large-json/index.ts';
import { UpstreamFailure } from '../../upstream-failure.ts';
import {
  type Chunk,
  type ChunkDigest,
  contentText,
  createArgumentsReader,
  digestChunk,
  isAmbiguousResponse,
  isRecord,
  MessageDigest,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readChunk,
  readUsage,
  recordableName,
  reportsError,
} from '../../wire/index.ts';
import { toOwnBuffer } from './raw-json.ts';

/** A function call, or a piece of one from a chunk. */
export interface CallDelta {
  readonly index: number;
  /** Empty in later pieces. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The parts of a chat message or delta that a response shows. */
export interface ChatDelta {
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly CallDelta[];
  /** Undefined until the message ends. */
  readonly finishReason: string | undefined;
}

/** Limit of calls in one turn. No model makes this many. */
const CALLS_MAX = 1_024;

/**
 * Reads the first choice of a chat response or chunk, parsed from `bytes`. Throws UpstreamFailure, `unusable`, if it has too
 * many calls.
 */
const readDelta = (choices: readonly unknown[], bytes: Buffer): ChatDelta => {
  const choice = isRecord(choices[0]) ? choices[0] : {};
  const { delta, message, finish_reason: reason } = choice;
  const part = isRecord(delta) ? delta : isRecord(message) ? message : {};
  const calls: readonly unknown[] = Array.isArray(part['tool_calls']) ? part['tool_calls'] : [];
  if (calls.length > CALLS_MAX) throw new UpstreamFailure('unusable');
  const readArguments = createArgumentsReader(bytes, isRecord(delta) ? 'delta' : 'message');
  return {
    text: contentText(part['content']) ?? '',
    refusal: asText(part['refusal']),
    calls: calls.flatMap((call, place) => {
      if (!isRecord(call)) return [];
      const called = isRecord(call['function']) ? call['function'] : {};
      return [toCall(call, called, place, readArguments(called['arguments'], { choice: 0, call: place }) ?? '')];
    }),
    finishReason: typeof reason === 'string' ? reason : undefined,
  };
};

const toCall = ({ index, id }: Members, called: Members, place: number, args: string): CallDelta => ({
  index: typeof index === 'number' && index >= 0 && index < CALLS_MAX ? index : place,
  id: asText(id),
  name: asText(called['name']),
  arguments: args,
});

type Members = Readonly<Record<string, unknown>>;

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const textPart = (text: string): object => ({ type: 'output_text', annotations: [], logprobs: [], text });

export const refusalPart = (refusal: string): object => ({ type: 'refusal', refusal });

export const messageItem = (id: string, status: ItemStatus, content: readonly object[]): object => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

export const callItem = (id: string, status: ItemStatus, call: Omit<CallDelta, 'index'>): object => ({
  id,
  type: 'function_call',
  status,
  arguments: call.arguments,
  call_id: call.id,
  name: call.name,
});

/** Returns why a response is incomplete; undefined for a complete one. */
export const incompleteReason = (finishReason: string | undefined): string | undefined => {
  if (finishReason === 'length' || finishReason === 'model_length') return 'max_output_tokens';
  return finishReason === 'content_filter' ? 'content_filter' : undefined;
};

/**
 * A chunk of a chat stream; undefined for an event outside the wire format, such as a heartbeat; `ambiguous` if the provider
 * repeats a member that the gateway reads, or writes one of the gateway's.
 */
export type ChunkReading = { readonly digest: ChunkDigest; readonly delta: ChatDelta } | 'ambiguous' | undefined;

interface ReadChunkOptions {
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
}

/** Reads an event and calls `onChunk` with its chunk. Throws the errors of `readChunk`. */
export const readChatChunk = (
  data: Buffer,
  { tokensMax }: ReadChunkOptions,
  onChunk?: (chunk: Chunk) => void,
): ChunkReading => {
  if (isAmbiguousResponse(data)) return 'ambiguous';
  const chunk = readChunk(data);
  if (chunk === undefined) return undefined;
  onChunk?.(chunk);
  return { digest: digestChunk(chunk, tokensMax), delta: readDelta(chunk.choices, data) };
};

/** Reads a large event in a worker. Throws `too_complex` if it exceeds the limits of its shape. */
export const readLargeChatChunk = (data: Buffer, options: ReadChunkOptions): { readonly reading: ChunkReading } => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  return { reading: readChatChunk(data, options) };
};

/** A chat completion translated to the output of a response. */
interface ChatResponseReading {
  /** The output items, as JSON. */
  readonly body: Buffer;
  readonly incompleteReason: string | undefined;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** Digest of the message, if a proof needs it. */
  readonly contentSha256: string | undefined;
  /** True if the provider repeats a member that the gateway reads, or writes one of the gateway's. */
  readonly isAmbiguous: boolean;
}

interface ReadChatResponseOptions {
  /** Random part of the items' ids. */
  readonly tail: string;
  readonly contextTokensMax: number;
  /** True if a proof needs the digest of the message. */
  readonly digestsMessages: boolean;
}

/**
 * Reads a provider's chat completion. Throws UpstreamFailure if it is not one: `failed` if it reports an error,
 * else `garbled`.
 */
export const readChatResponse = (
  bytes: Buffer,
  { tail, contextTokensMax, digestsMessages }: ReadChatResponseOptions,
): ChatResponseReading => {
  const response = parseRecord(bytes);
  const { choices, usage, id, model } = response;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(response) ? 'failed' : 'garbled');
  }
  const delta = readDelta(choices, bytes);
  return {
    body: toOwnBuffer(JSON.stringify(outputOf(delta, tail))),
    incompleteReason: incompleteReason(delta.finishReason),
    id: recordableName(id),
    model: recordableName(model),
    usage: readUsage(usage, contextTokensMax),
    outputBytes: outputBytesOf(choices),
    contentSha256: digestsMessages ? digestOf(delta) : undefined,
    isAmbiguous: isAmbiguousResponse(bytes),
  };
};

const digestOf = ({ text, refusal, calls }: ChatDelta): string | undefined => {
  const digest = new MessageDigest();
  digest.add({ choice: 0, content: text, refusal, calls: calls.map((call, index) => ({ ...call, index })) });
  return digest.value();
};

const outputOf = ({ text, refusal, calls, finishReason }: ChatDelta, tail: string): object[] => {
  const status = incompleteReason(finishReason) === undefined ? 'completed' : 'incomplete';
  const hasText = text !== '' || (refusal === '' && calls.length === 0);
  const content = [...(hasText ? [textPart(text)] : []), ...(refusal === '' ? [] : [refusalPart(refusal)])];
  const message = content.length === 0 ? [] : [messageItem(`msg_${tail}_0`, status, content)];
  const called = calls.map((call, index) => {
    const name = `${tail}_${message.length + index}`;
    return callItem(`fc_${name}`, status, { ...call, id: call.id || `call_${name}` });
  });
  return [...message, ...called];
};

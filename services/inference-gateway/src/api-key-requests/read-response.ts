import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type Chunk,
  type ChunkDigest,
  digestChunk,
  findMember,
  isAmbiguousResponse,
  MessageDigest,
  type MessagePiece,
  outputBytesOf,
  type ReportedUsage,
  type ResponseSpan,
  readChunk,
  readDeltas,
  readMessages,
  readUsage,
  recordableName,
  reportsError,
  scanResponse,
} from '../wire/index.ts';
import { digestResponseRequest } from './responses/digest-response-request.ts';
import { readChatResponse, readLargeChatChunk } from './responses/read-chat.ts';

/**
 * The parts of a provider's JSON response that the gateway reads. Its size is bounded, regardless of the response's, because it
 * is cloned between threads.
 */
interface ResponseReading extends ResponseSpan {
  readonly isAmbiguous: false;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  /** Bytes of generated text; counted only if the provider reports no plausible usage. */
  readonly outputBytes: number;
  /** Digest of the messages, if a proof needs it. */
  readonly contentSha256: string | undefined;
}

/** A response that repeats a member which the gateway reads or writes. */
export interface AmbiguousResponse {
  readonly isAmbiguous: true;
}

interface ReadResponseOptions {
  readonly contextTokensMax: number;
  /** The request's own output limit, or infinity. */
  readonly outputTokensMax: number;
  /** True if a proof needs the digest of the messages. */
  readonly digestsMessages: boolean;
}

const BLANK = /^[\t\n\r ]*$/;

/**
 * Reads single members and skips the rest, such as the long lists of numbers in embeddings. Throws UpstreamFailure:
 * `failed` if the provider reports an error, `garbled` if the parts read are not a JSON object.
 */
export const readResponse = (
  bytes: Buffer,
  { contextTokensMax, outputTokensMax, digestsMessages }: ReadResponseOptions,
): ResponseReading | AmbiguousResponse => {
  try {
    const { span, extensions, isAmbiguous } = scanResponse(bytes);
    if (isAmbiguous) return { isAmbiguous };
    const read = (key: string): unknown => {
      const member = findMember(span, key);
      return member === undefined ? undefined : JSON.parse(bytes.toString('utf8', member.valueStart, member.valueEnd));
    };
    const isResponse = findMember(span, 'choices') !== undefined || findMember(span, 'data') !== undefined;
    if (!isResponse && reportsError({ error: read('error'), object: read('object') }))
      throw new UpstreamFailure('failed');
    // Extensions are edited later. Parsing them now finds damaged ones before the request is settled.
    read('extensions');
    if (!BLANK.test(bytes.toString('latin1', span.close + 1))) throw new UpstreamFailure('garbled');
    const usage = readUsage(read('usage'), contextTokensMax);
    const isCounted = typeof usage === 'object' && usage.output <= outputTokensMax;
    const choices = isCounted && !digestsMessages ? undefined : read('choices');
    return {
      isAmbiguous,
      span,
      extensions,
      id: recordableName(read('id')),
      model: recordableName(read('model')),
      usage,
      outputBytes: Array.isArray(choices) && !isCounted ? outputBytesOf(choices) : 0,
      contentSha256: digestsMessages ? digestOf(choices) : undefined,
    };
  } catch (error) {
    // The error is not kept as the cause: its message could quote the response.
    throw error instanceof UpstreamFailure ? error : new UpstreamFailure('garbled');
  }
};

const digestOf = (choices: unknown): string | undefined => {
  const digest = new MessageDigest();
  for (const message of Array.isArray(choices) ? readMessages(choices) : []) digest.add(message);
  return digest.value();
};

/** An event of a provider's stream that is passed through. */
export type EventReading =
  | { readonly kind: 'chunk'; readonly digest: ChunkDigest; readonly pieces: readonly MessagePiece[] }
  /** The provider repeats a member that the gateway reads, or writes one of the gateway's. */
  | { readonly kind: 'ambiguous' }
  /** An event outside the wire format, such as a heartbeat. */
  | { readonly kind: 'other' };

interface ReadEventOptions {
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
  /** True if a proof needs the pieces of the messages. */
  readonly readsPieces: boolean;
}

/** Reads an event and calls `onChunk` with its chunk. Throws the errors of `readChunk`. */
export const readEvent = (
  data: Buffer,
  { tokensMax, readsPieces }: ReadEventOptions,
  onChunk?: (chunk: Chunk) => void,
): EventReading => {
  if (isAmbiguousResponse(data)) return { kind: 'ambiguous' };
  const chunk = readChunk(data);
  if (chunk === undefined) return { kind: 'other' };
  onChunk?.(chunk);
  const pieces = readsPieces ? readDeltas(chunk.choices) : [];
  return { kind: 'chunk', digest: digestChunk(chunk, tokensMax), pieces };
};

/** Reads a large event in a worker. Throws `too_complex` if it exceeds the limits of its shape. */
export const readLargeEvent = (data: Buffer, options: ReadEventOptions): EventReading => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  return readEvent(data, options);
};

/** Tasks of API-key requests, which run in a worker if their text is large. */
export const keyRequestTasks = {
  digestResponseRequest,
  readResponse,
  readChatResponse,
  readLargeChatChunk,
  readLargeEvent,
} as const;

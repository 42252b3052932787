import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type Chunk,
  type ChunkDigest,
  digestChunk,
  isAmbiguousAnswer,
  type MessagePiece,
  readChunk,
  readDeltas,
} from '../wire/index.ts';
import { readAnswer } from './read-answer.ts';
import { digestResponseRequest } from './responses/digest-response-request.ts';
import { readChatAnswer } from './responses/read-chat-answer.ts';
import { readLargeChatChunk } from './responses/read-chat-chunk.ts';

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
  if (isAmbiguousAnswer(data)) return { kind: 'ambiguous' };
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
  readAnswer,
  readChatAnswer,
  readLargeChatChunk,
  readLargeEvent,
} as const;

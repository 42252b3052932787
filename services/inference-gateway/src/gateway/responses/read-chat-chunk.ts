import { JsonShape } from '../../large-json/index.ts';
import { UpstreamFailure } from '../../upstream-failure.ts';
import { type Chunk, type ChunkDigest, digestChunk, isAmbiguousAnswer, readChunk } from '../../wire/index.ts';
import { type ChatDelta, readDelta } from './chat-delta.ts';

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
  if (isAmbiguousAnswer(data)) return 'ambiguous';
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

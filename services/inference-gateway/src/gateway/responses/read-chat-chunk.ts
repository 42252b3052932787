import { JsonShape } from '../../large-json/index.ts';
import { UpstreamFailure } from '../../upstream-failure/index.ts';
import { type Chunk, type ChunkDigest, digestChunk, readChunk } from '../../wire/index.ts';
import { type ChatDelta, readDelta } from './chat-delta.ts';

/** A chunk of a chat stream; undefined for an event of the provider's own, such as a sign of life. */
export type ChunkReading = { readonly digest: ChunkDigest; readonly delta: ChatDelta } | undefined;

interface ReadChunkOptions {
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
}

/** Reads an event, and calls `onChunk` with the chunk in it. Throws as `readChunk` does. */
export const readChatChunk = (
  data: Buffer,
  { tokensMax }: ReadChunkOptions,
  onChunk?: (chunk: Chunk) => void,
): ChunkReading => {
  const chunk = readChunk(data);
  if (chunk === undefined) return undefined;
  onChunk?.(chunk);
  return { digest: digestChunk(chunk, tokensMax), delta: readDelta(chunk.choices) };
};

/** Reads a large event in a worker. Throws `too_complex` beyond the bounds of its shape. */
export const readLargeChatChunk = (data: Buffer, options: ReadChunkOptions): { readonly reading: ChunkReading } => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  return { reading: readChatChunk(data, options) };
};

import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import { type Chunk, type ChunkDigest, digestChunk, readChunk, scanAnswer } from '../wire/index.ts';

/** An event of a provider's stream, whose bytes pass as they came. */
export type EventReading =
  | { readonly kind: 'chunk'; readonly digest: ChunkDigest }
  /** A member that is read or written appears twice. */
  | { readonly kind: 'ambiguous' }
  /** Something of the provider's own, such as a sign of life. */
  | { readonly kind: 'other' };

interface ReadEventOptions {
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
}

/** Reads an event, and calls `onChunk` with the chunk in it. Throws as `readChunk` does. */
export const readEvent = (
  data: Buffer,
  { tokensMax }: ReadEventOptions,
  onChunk?: (chunk: Chunk) => void,
): EventReading => {
  if (isAmbiguous(data)) return { kind: 'ambiguous' };
  const chunk = readChunk(data);
  if (chunk === undefined) return { kind: 'other' };
  onChunk?.(chunk);
  return { kind: 'chunk', digest: digestChunk(chunk, tokensMax) };
};

/** Reads a large event in a worker. Throws `too_complex` beyond the bounds of its shape. */
export const readLargeEvent = (data: Buffer, options: ReadEventOptions): EventReading => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  return readEvent(data, options);
};

/** Text that is no object is left to `readChunk`. */
const isAmbiguous = (data: Buffer): boolean => {
  try {
    return scanAnswer(data).isAmbiguous;
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return false;
    throw error;
  }
};

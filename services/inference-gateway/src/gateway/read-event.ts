import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { type Chunk, type ChunkDigest, digestChunk, readChunk, scanAnswer } from '../wire/index.ts';

/** An event of a provider's stream that is passed through. */
export type EventReading =
  | { readonly kind: 'chunk'; readonly digest: ChunkDigest }
  /** A member that the gateway reads or writes is repeated. */
  | { readonly kind: 'ambiguous' }
  /** An event outside the wire format, such as a heartbeat. */
  | { readonly kind: 'other' };

interface ReadEventOptions {
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
}

/** Reads an event and calls `onChunk` with its chunk. Throws the errors of `readChunk`. */
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

/** Reads a large event in a worker. Throws `too_complex` if it exceeds the limits of its shape. */
export const readLargeEvent = (data: Buffer, options: ReadEventOptions): EventReading => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  return readEvent(data, options);
};

/** Returns false for text that is not an object, which `readChunk` rejects. */
const isAmbiguous = (data: Buffer): boolean => {
  try {
    return scanAnswer(data).isAmbiguous;
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return false;
    throw error;
  }
};

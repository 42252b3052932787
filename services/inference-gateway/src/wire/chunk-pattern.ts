import { isUtf8 } from 'node:buffer';
import { isRecord } from './json-value.ts';
import { type Chunk, parseChunk } from './stream-tally.ts';
import { outputBytesOf } from './token-usage.ts';

/** Recognizes chunks of one stream that differ only in their text. */
export interface ChunkPattern {
  /** Returns the text, in UTF-8, of a chunk that differs from the learnt one only in its text; undefined for other chunks. */
  readonly textOf: (data: Buffer) => Buffer | undefined;
  /** Learns from a parsed chunk. Returns the chunk with `SAMPLE_TEXT` as its text, or undefined if it is unsuitable. */
  readonly learn: (data: Buffer, chunk: Chunk) => Chunk | undefined;
}

/** Placeholder for the text of a learnt chunk. */
export const SAMPLE_TEXT = '\u0001sample\u0001';
const SAMPLE = Buffer.from(JSON.stringify(SAMPLE_TEXT));
/** Limit of attempts. Beyond it, the chunks of the stream differ in more than their text. */
const TRIES_MAX = 4;
/** Longer chunks are not worth a pattern. */
const PATTERN_BYTES_MAX = 4 * 1024;
const QUOTE = 0x22;
const QUOTE_LENGTH = 1;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * Creates a pattern for one stream. Most chunks of a stream differ only in the text of their only choice. Comparing bytes
 * recognizes them at a fraction of the cost of parsing. Parsing the pattern with another text verifies it.
 */
export const createChunkPattern = (): ChunkPattern => {
  /** The bytes before and after the text, in one buffer. */
  let around: Buffer | undefined;
  let beforeLength = 0;
  let tries = 0;

  const textOf = (data: Buffer): Buffer | undefined => {
    if (around === undefined || data.length < around.length) return undefined;
    const end = data.length - (around.length - beforeLength);
    if (around.compare(data, 0, beforeLength, 0, beforeLength) !== 0) return undefined;
    if (around.compare(data, end, data.length, beforeLength) !== 0) return undefined;
    return isPlain(data, beforeLength, end) ? data.subarray(beforeLength, end) : undefined;
  };

  const learn = (data: Buffer, chunk: Chunk): Chunk | undefined => {
    if (tries === TRIES_MAX || data.length > PATTERN_BYTES_MAX) return undefined;
    const text = onlyTextOf(chunk);
    if (text === undefined || text === '' || text === SAMPLE_TEXT) return undefined;
    tries += 1;
    const written = JSON.stringify(text);
    const at = data.lastIndexOf(written);
    if (at === -1) return undefined;
    const end = at + Buffer.byteLength(written);
    const sample = parseSample(Buffer.concat([data.subarray(0, at), SAMPLE, data.subarray(end)]));
    if (sample === undefined || onlyTextOf(sample) !== SAMPLE_TEXT) return undefined;
    // Both parts include a quote. They are copied, because the buffer of `data` is reused.
    beforeLength = at + QUOTE_LENGTH;
    around = Buffer.allocUnsafeSlow(beforeLength + data.length - end + QUOTE_LENGTH);
    data.copy(around, 0, 0, beforeLength);
    data.copy(around, beforeLength, end - QUOTE_LENGTH);
    return sample;
  };
  return { textOf, learn };
};

/** Returns undefined if the sample is not JSON: a text such as `:` may have been replaced outside of its string. */
const parseSample = (data: Buffer): Chunk | undefined => {
  try {
    return parseChunk(data);
  } catch {
    return undefined;
  }
};

/** Returns the text of a chunk that contains nothing else: no finish reason, usage or other generated text. */
const onlyTextOf = ({ choices, usage }: Chunk): string | undefined => {
  const [choice] = choices;
  if (choices.length !== 1 || !isRecord(choice) || typeof choice['finish_reason'] === 'string') return undefined;
  const text = isRecord(choice['delta']) ? choice['delta']['content'] : undefined;
  if (typeof text !== 'string' || isRecord(usage)) return undefined;
  return outputBytesOf(choices) === Buffer.byteLength(text) ? text : undefined;
};

/** Returns true for bytes that need no decoding in a JSON string: no quote, escape, control character or broken UTF-8. */
const isPlain = (data: Buffer, start: number, end: number): boolean => {
  let isAscii = true;
  for (let at = start; at < end; at += 1) {
    const byte = data[at] ?? 0;
    if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return false;
    if (byte > DELETE) isAscii = false;
  }
  return isAscii || isUtf8(data.subarray(start, end));
};

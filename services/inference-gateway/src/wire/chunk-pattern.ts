import { isUtf8 } from 'node:buffer';
import { isRecord } from './json-value.ts';
import { outputBytesOf } from './output-bytes.ts';
import { type Chunk, parseChunk } from './stream-tally.ts';

/** The bytes that chunks of one stream have in common which differ in nothing but their text. */
export interface ChunkPattern {
  /** The text of a chunk that differs in its text alone from the one learnt, as UTF-8; undefined for any other chunk. */
  readonly textOf: (data: Buffer) => Buffer | undefined;
  /** Learns from a chunk that was parsed. Answers the same chunk with `SAMPLE_TEXT` for its text; undefined where it is of no use. */
  readonly learn: (data: Buffer, chunk: Chunk) => Chunk | undefined;
}

/** Stands for the text in what was learnt. */
export const SAMPLE_TEXT = '\u0001sample\u0001';
const SAMPLE = Buffer.from(JSON.stringify(SAMPLE_TEXT));
/** A provider whose chunks differ in more than their text is not tried for ever. */
const TRIES_MAX = 4;
/** Of a longer chunk the text is not what makes it long. */
const PATTERN_BYTES_MAX = 4 * 1024;
const QUOTE = 0x22;
const QUOTE_LENGTH = 1;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * Most chunks of a stream differ from the one before in the text of their only choice. Whether one does is seen by comparing
 * bytes, at a fraction of what parsing it takes. A pattern is proved by parsing it with another text: whatever JSON string
 * stands there, the rest of the chunk is the same.
 */
export const createChunkPattern = (): ChunkPattern => {
  // What stands before the text and what stands after it, in one.
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
    // Quotes included. A copy of its own: what came is part of a buffer that is used again, and a share of a pool keeps all of it.
    beforeLength = at + QUOTE_LENGTH;
    around = Buffer.allocUnsafeSlow(beforeLength + data.length - end + QUOTE_LENGTH);
    data.copy(around, 0, 0, beforeLength);
    data.copy(around, beforeLength, end - QUOTE_LENGTH);
    return sample;
  };
  return { textOf, learn };
};

/** Where the text stands elsewhere too, such as `:` between two members, what it is exchanged for may not be JSON. */
const parseSample = (data: Buffer): Chunk | undefined => {
  try {
    return parseChunk(data);
  } catch {
    return undefined;
  }
};

/** The text of a chunk that tells of nothing else: no end, no usage, and no other text that counts. */
const onlyTextOf = ({ choices, usage }: Chunk): string | undefined => {
  const [choice] = choices;
  if (choices.length !== 1 || !isRecord(choice) || typeof choice['finish_reason'] === 'string') return undefined;
  const text = isRecord(choice['delta']) ? choice['delta']['content'] : undefined;
  if (typeof text !== 'string' || isRecord(usage)) return undefined;
  return outputBytesOf(choices) === Buffer.byteLength(text) ? text : undefined;
};

/** Whether these bytes mean themselves within a JSON string: no end of it, no escape, no control character, no broken UTF-8. */
const isPlain = (data: Buffer, start: number, end: number): boolean => {
  let isAscii = true;
  for (let at = start; at < end; at += 1) {
    const byte = data[at] ?? 0;
    if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return false;
    if (byte > DELETE) isAscii = false;
  }
  return isAscii || isUtf8(data.subarray(start, end));
};

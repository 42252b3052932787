import { freeBuffer } from '@svc/service-kit';
import { isReadInline, JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const DATA = Buffer.from('data');
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Data of the event that ends a stream in the common wire format. */
export const DONE = '[DONE]';
/** Longer data is no end, however many blanks it has. */
const DONE_BYTES_MAX = 64;
const OPEN_BRACKET = 0x5b;

/** Returns true for the data of the event that ends a stream, with or without blanks around it, as common SDKs do. */
export const isDone = (data: Buffer): boolean => {
  const first = data[0] ?? 0;
  if (data.length > DONE_BYTES_MAX || (first !== OPEN_BRACKET && first > SPACE)) return false;
  return data.toString('latin1').trim() === DONE;
};

/** Types of events that only keep a connection alive. Their data is ignored. */
const HEARTBEAT = /^event: ?(ping|heartbeat|keep-?alive)$/i;
const HEARTBEAT_BYTES_MAX = 20;
const EVENT = 'e'.charCodeAt(0);

/** Completes an event that was cut off by the end of the stream with the missing line ends. */
export const completeEvent = (block: Buffer): Buffer => Buffer.concat([block, missingLineEnds(block)]);

const missingLineEnds = (block: Buffer): Buffer => {
  if (block.at(-1) === CR) return Buffer.from('\r');
  if (block.at(-1) !== LF) return Buffer.from('\n\n');
  return Buffer.from(block.at(-2) === CR ? '\r\n' : '\n');
};

/**
 * Returns the `data` of one raw event: the values of its data lines, joined by line feeds. Returns undefined if it says
 * nothing: a comment, an event without data or with blank data, a heartbeat. Skips a byte-order mark at the start.
 */
export const eventData = (block: Buffer): Buffer | undefined => {
  const data = joinDataLines(block);
  return data === undefined || isBlank(data) ? undefined : data;
};

const isBlank = (data: Buffer): boolean => (data[0] ?? 0) <= SPACE && data.every((byte) => byte <= SPACE);

const joinDataLines = (block: Buffer): Buffer | undefined => {
  let position = startsWithMark(block) ? BYTE_ORDER_MARK.length : 0;
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  const hasCr = block.includes(CR);
  while (position < block.length) {
    const end = hasCr ? lineEnd(block, position) : lfFrom(block, position);
    if (block[position] === EVENT && isHeartbeat(block, position, end)) return undefined;
    const value = dataValue(block, position, end);
    if (value !== undefined) {
      if (first === undefined) first = value;
      else more = [...(more ?? []), value];
    }
    position = end + 1;
  }
  if (first === undefined || more === undefined) return first;
  return Buffer.concat([first, ...more.flatMap((value) => [Buffer.of(LF), value])]);
};

const startsWithMark = (block: Buffer): boolean =>
  block[0] === BYTE_ORDER_MARK[0] && block.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);

/** Returns the offset of the next LF, or of the end. */
const lfFrom = (block: Buffer, from: number): number => {
  const position = block.indexOf(LF, from);
  return position === -1 ? block.length : position;
};

/** Returns the offset of the next CR or LF. A CRLF thus yields an extra empty line, which has no data. */
const lineEnd = (block: Buffer, from: number): number => {
  const position = lfFrom(block, from);
  const cr = block.subarray(from, position).indexOf(CR);
  return cr === -1 ? position : from + cr;
};

const isHeartbeat = (block: Buffer, start: number, end: number): boolean =>
  end - start <= HEARTBEAT_BYTES_MAX && HEARTBEAT.test(block.toString('latin1', start, end));

const dataValue = (block: Buffer, start: number, end: number): Buffer | undefined => {
  const colon = start + DATA.length;
  if (end < colon || !isDataField(block, start)) return undefined;
  if (end === colon) return block.subarray(end, end);
  if (block[colon] !== COLON) return undefined;
  return block.subarray(block[colon + 1] === SPACE && colon + 1 < end ? colon + 2 : colon + 1, end);
};

const isDataField = (block: Buffer, start: number): boolean =>
  block[start] === DATA[0] &&
  block[start + 1] === DATA[1] &&
  block[start + 2] === DATA[2] &&
  block[start + 3] === DATA[3];

/** Shorter events cannot have many values. */
const UNCHECKED_EVENT_BYTES = 2 * 1024;

/** Returns true for an event that must not be parsed on the event loop. Throws UpstreamFailure, `too_complex`. */
export const isLargeEvent = (data: Buffer): boolean => {
  const { length } = data;
  if (length <= UNCHECKED_EVENT_BYTES) return false;
  if (!isReadInline({ length, values: 0 })) return true;
  const shape = new JsonShape();
  if (!shape.push(data)) throw new UpstreamFailure('too_complex');
  return !isReadInline({ length, values: shape.values });
};

const INITIAL_BUFFER_BYTES = 4 * 1024;
const NOTHING = Buffer.alloc(0);

/** Thrown if an event exceeds the size limit. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError';
}

/** Splits a byte stream into server-sent events. */
export interface EventSplitter {
  /**
   * Calls `onBlock` with the raw bytes of each event (or lone comment) that these bytes complete, including its blank line.
   * The blocks concatenated are the stream, byte for byte. Throws EventTooLongError.
   */
  push: (chunk: Buffer, onBlock: (block: Buffer) => void) => void;
  /** Returns the bytes after the last blank line, none if the stream ended properly. */
  end: () => Buffer;
  /** Returns the number of bytes held of an incomplete event. */
  heldBytes: () => number;
}

/**
 * Creates a splitter at blank lines (HTML standard, section 9.2.6): lines end with CRLF, LF or CR. A blank line that ends
 * with CR completes its event immediately; a LF that follows is part of the next block. Bytes are copied only if an event
 * spans chunks.
 */
export const createEventSplitter = (eventBytesMax: number): EventSplitter => {
  let held: Buffer = NOTHING;
  let heldLength = 0;
  // Relative to the start of the block in progress, which is also where `held` starts.
  let scanned = 0;
  let lineStart = 0;
  let mayFollowCr = false;

  const hold = (bytes: Buffer): void => {
    const length = heldLength + bytes.length;
    if (length > eventBytesMax) throw new EventTooLongError(`an event is longer than ${eventBytesMax} bytes`);
    if (held.length < length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(INITIAL_BUFFER_BYTES, length, Math.min(held.length * 2, eventBytesMax)),
      );
      held.copy(grown, 0, 0, heldLength);
      freeBuffer(held);
      held = grown;
    }
    bytes.copy(held, heldLength);
    heldLength = length;
  };

  const take = (chunk: Buffer): Buffer => {
    if (heldLength === 0) return chunk;
    hold(chunk);
    return held.subarray(0, heldLength);
  };

  const keepRest = (view: Buffer, blockStart: number): void => {
    if (heldLength > 0 && blockStart === 0) return;
    // Returned blocks may still be in use, so their buffer is never written again.
    held = NOTHING;
    heldLength = 0;
    if (blockStart < view.length) hold(view.subarray(blockStart));
  };

  const push = (chunk: Buffer, onBlock: (block: Buffer) => void): void => {
    if (chunk.length === 0) return;
    const view = take(chunk);
    let blockStart = 0;
    let position = scanned;
    let nextLf = view.indexOf(LF, position);
    let nextCr = view.indexOf(CR, position);
    for (;;) {
      if (mayFollowCr) {
        if (position >= view.length) break;
        mayFollowCr = false;
        if (view[position] === LF) {
          position += 1;
          // After a completed block, the LF is part of the next block but starts no line.
          lineStart = position - blockStart;
        }
      }
      if (nextLf !== -1 && nextLf < position) nextLf = view.indexOf(LF, position);
      if (nextCr !== -1 && nextCr < position) nextCr = view.indexOf(CR, position);
      const isCr = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf);
      const terminator = isCr ? nextCr : nextLf;
      if (terminator === -1) {
        position = view.length;
        break;
      }
      const isBlank = terminator === blockStart + lineStart;
      position = terminator + 1;
      if (isCr && view[position] === LF) position += 1;
      else if (isCr && position === view.length) mayFollowCr = true;
      lineStart = position - blockStart;
      if (isBlank) {
        const block = view.subarray(blockStart, position);
        blockStart = position;
        lineStart = 0;
        onBlock(block);
      }
    }
    scanned = position - blockStart;
    keepRest(view, blockStart);
  };

  const end = (): Buffer => {
    const rest = held.subarray(0, heldLength);
    heldLength = 0;
    return rest;
  };
  return { push, end, heldBytes: () => heldLength };
};

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
const DONE_BYTES = Buffer.from(DONE);

/** Returns true for the data of the event that ends a stream. */
export const isDone = (data: Buffer): boolean => data.length === DONE.length && data.equals(DONE_BYTES);

/** Completes an event that was cut off by the end of the stream with the missing line ends. */
export const completeEvent = (block: Buffer): Buffer => Buffer.concat([block, missingLineEnds(block)]);

const missingLineEnds = (block: Buffer): Buffer => {
  if (block.at(-1) === CR) return Buffer.from('\r');
  if (block.at(-1) !== LF) return Buffer.from('\n\n');
  return Buffer.from(block.at(-2) === CR ? '\r\n' : '\n');
};

/**
 * Returns the `data` of one raw event: the values of its data lines, joined by line feeds. Returns undefined if there is
 * none, as in a comment. Skips a byte-order mark at the start.
 */
export const eventData = (block: Buffer): Buffer | undefined => {
  let position = startsWithMark(block) ? BYTE_ORDER_MARK.length : 0;
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  const hasCr = block.includes(CR);
  while (position < block.length) {
    const end = hasCr ? lineEnd(block, position) : lfFrom(block, position);
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

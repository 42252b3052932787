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

import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '@svc/contracts';
import type { TextScan } from '../../large-json/index.ts';
import {
  findStringEnd,
  type JsonMember,
  type JsonObjectSpan,
  RESPONSE_KEYS,
  UNENDED_IN_ESCAPE,
} from '../../wire/index.ts';

const OTHER = 0;
const BLANK = 1;
const STRING = 2;
const OPEN = 3;
const CLOSE = 4;
const COMMA = 5;
const COLON = 6;
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n')) KINDS[byte] = BLANK;
for (const byte of Buffer.from('{[')) KINDS[byte] = OPEN;
for (const byte of Buffer.from('}]')) KINDS[byte] = CLOSE;
KINDS[0x22] = STRING;
KINDS[0x2c] = COMMA;
KINDS[0x3a] = COLON;

const OPEN_BRACE = 0x7b;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const isNumber = (byte: number): boolean => byte === MINUS || (byte >= ZERO && byte <= NINE);

/** Longer keys and values are not kept. The gateway reads none of them. */
const KEPT_BYTES_MAX = 64 * 1024;
/** Members whose values are skipped: only their presence counts. */
const SKIPPED: ReadonlySet<string> = new Set(['data', 'choices']);

/** Place in the root object. */
type Place = 'before' | 'key' | 'colon' | 'value_start' | 'value' | 'after' | 'damaged';

/** A member of the root object that the gateway reads, with its value unless that is skipped. */
export interface ScannedMember extends JsonMember {
  readonly value: Buffer | undefined;
}

/** The scanned members of a response. */
export interface ScannedSpan extends Omit<JsonObjectSpan, 'members'> {
  readonly members: readonly ScannedMember[];
}

/**
 * Scans an embeddings response while it arrives, at a few nanoseconds per byte: finds the members that the gateway reads, and
 * limits values and depth. Numbers in lists do not count, so that only their bytes limit them.
 */
export class EmbeddingsScan implements TextScan {
  readonly #members: ScannedMember[] = [];
  #values = 1;
  #depth = 0;
  #place: Place = 'before';
  /** Offset of the current piece in the text. */
  #offset = 0;
  #isInString = false;
  #isEscaped = false;
  /** True after `[`, `{` or a comma: the next byte tells if a value follows that counts. */
  #isAwaited = false;
  /** Pieces of the key or value that is being kept, and its start in the current piece; -1 if none is kept. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #keptFrom = -1;
  #key = '';
  #keyStart = 0;
  #keyEnd = 0;
  #valueStart = 0;
  /** Offset after the last byte that is not blank. */
  #end = 0;
  #lastValueEnd: number | undefined;
  #open = 0;
  #close = 0;

  get values(): number {
    return this.#values;
  }

  /** Returns the members that the gateway reads; undefined if the text is not one whole object. */
  span(): ScannedSpan | undefined {
    if (this.#place !== 'after') return undefined;
    return { open: this.#open, close: this.#close, lastValueEnd: this.#lastValueEnd, members: this.#members };
  }

  push(bytes: Buffer): boolean {
    const { length } = bytes;
    if (this.#keptFrom !== -1) this.#keptFrom = 0;
    let at = 0;
    if (this.#isInString) {
      at = this.#finishString(bytes, 0);
      if (this.#depth <= 1 && !this.#isInString) this.#passRoot(bytes, at);
    }
    while (at < length) {
      const byte = bytes[at] ?? 0;
      const kind = KINDS[byte];
      if (kind === BLANK) {
        at += 1;
        continue;
      }
      if (this.#isAwaited) {
        this.#isAwaited = false;
        if (kind !== CLOSE && !isNumber(byte)) this.#values += 1;
      }
      if (this.#depth <= 1) this.#takeRoot(bytes, at, kind ?? OTHER);
      at += 1;
      if (kind === OTHER) {
        while (at < length && KINDS[bytes[at] ?? 0] === OTHER) at += 1;
      } else if (kind === STRING) at = this.#finishString(bytes, at);
      else if (kind === COMMA) this.#isAwaited = true;
      else if (kind === OPEN) {
        this.#depth += 1;
        this.#isAwaited = true;
        if (this.#depth > JSON_DEPTH_MAX) return false;
      } else if (kind === CLOSE) this.#depth -= 1;
      if (this.#depth <= 1 && !this.#isInString) this.#passRoot(bytes, at);
    }
    this.#keep(bytes, length);
    this.#offset += length;
    return this.#values <= JSON_VALUES_MAX;
  }

  /** Reads the first byte of a token of the root object, or around it. */
  #takeRoot(bytes: Buffer, at: number, kind: number): void {
    const place = this.#place;
    const isInside = this.#depth === 1;
    if (place === 'before') {
      this.#place = bytes[at] === OPEN_BRACE ? 'key' : 'damaged';
      this.#open = this.#offset + at;
    } else if (place === 'value_start') {
      this.#place = kind === COMMA || kind === CLOSE ? 'damaged' : 'value';
      this.#valueStart = this.#offset + at;
      if (RESPONSE_KEYS.has(this.#key) && !SKIPPED.has(this.#key)) this.#startKeeping(at);
    } else if (place === 'value' && isInside && (kind === COMMA || kind === CLOSE)) this.#endMember(bytes, at, kind);
    else if (place === 'key' && kind === STRING) {
      this.#keyStart = this.#offset + at;
      this.#startKeeping(at);
    } else if (place === 'key' && kind === CLOSE && this.#lastValueEnd === undefined) this.#endObject(at);
    else if (place === 'colon' && kind === COLON) this.#place = 'value_start';
    else if (place !== 'value') this.#place = 'damaged';
  }

  /** Called after a token of the root object, which ends at `at`. */
  #passRoot(bytes: Buffer, at: number): void {
    this.#end = this.#offset + at;
    if (this.#place !== 'key' || this.#keptFrom === -1) return;
    this.#keyEnd = this.#end;
    this.#key = readKey(this.#takeKept(bytes, at));
    this.#place = 'colon';
  }

  #endMember(bytes: Buffer, at: number, kind: number): void {
    this.#lastValueEnd = this.#end;
    if (RESPONSE_KEYS.has(this.#key)) {
      this.#members.push({
        key: this.#key,
        keyStart: this.#keyStart,
        keyEnd: this.#keyEnd,
        valueStart: this.#valueStart,
        valueEnd: this.#end,
        commaBefore: undefined,
        commaAfter: undefined,
        value: this.#keptFrom === -1 ? undefined : this.#takeKept(bytes, at),
      });
    }
    if (kind === CLOSE) this.#endObject(at);
    else this.#place = 'key';
  }

  #endObject(at: number): void {
    this.#place = 'after';
    this.#close = this.#offset + at;
  }

  #startKeeping(at: number): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#keptFrom = at;
  }

  #keep(bytes: Buffer, end: number): void {
    if (this.#keptFrom === -1) return;
    const piece = bytes.subarray(this.#keptFrom, end);
    this.#keptBytes += piece.length;
    // The caller may reuse the bytes.
    if (this.#keptBytes <= KEPT_BYTES_MAX) this.#kept.push(Buffer.from(piece));
    this.#keptFrom = end;
  }

  /** Returns what was kept; empty if it is too long. */
  #takeKept(bytes: Buffer, end: number): Buffer {
    this.#keep(bytes, end);
    this.#keptFrom = -1;
    return this.#keptBytes <= KEPT_BYTES_MAX ? Buffer.concat(this.#kept) : Buffer.alloc(0);
  }

  /** Returns the offset after the closing quote, or the length of the piece. */
  #finishString(bytes: Buffer, from: number): number {
    const isContinued = this.#isEscaped && bytes.length > from;
    const end = findStringEnd(bytes, isContinued ? from + 1 : from);
    this.#isInString = end < 0;
    this.#isEscaped = end === UNENDED_IN_ESCAPE || (this.#isEscaped && !isContinued);
    return this.#isInString ? bytes.length : end;
  }
}

/** Returns an empty name for a key that is too long or damaged. */
const readKey = (quoted: Buffer): string => {
  try {
    return String(JSON.parse(quoted.toString()));
  } catch {
    return '';
  }
};

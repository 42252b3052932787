import { BadResponseError, type Framing } from './response-head.ts';

/** Extracts a body from the bytes of a connection. */
export interface BodyDecoder {
  /** Returns the body bytes of this read, in memory that the decoder owns. Throws BadResponseError. */
  readonly take: (bytes: Buffer) => Buffer;
  /** Returns true once the body is complete. */
  readonly isDone: () => boolean;
  /** True if the end of the connection completes the body. */
  readonly endsWithConnection: boolean;
  /** Returns true if bytes followed the end of the body. */
  readonly hasSurplus: () => boolean;
}

const NOTHING = Buffer.alloc(0);

/** Creates the decoder for a framing. */
export const createBodyDecoder = (framing: Framing): BodyDecoder => {
  if (framing === 'chunked') return new ChunkedDecoder();
  return new LengthDecoder(framing === 'close' ? Number.POSITIVE_INFINITY : framing);
};

class LengthDecoder implements BodyDecoder {
  readonly endsWithConnection: boolean;
  #left: number;
  #hasSurplus = false;

  constructor(length: number) {
    this.#left = length;
    this.endsWithConnection = length === Number.POSITIVE_INFINITY;
  }

  take(bytes: Buffer): Buffer {
    if (bytes.length > this.#left) this.#hasSurplus = true;
    const part = Buffer.from(this.#hasSurplus ? bytes.subarray(0, this.#left) : bytes);
    this.#left -= part.length;
    return part;
  }

  isDone(): boolean {
    return this.#left === 0;
  }

  hasSurplus(): boolean {
    return this.#hasSurplus;
  }
}

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
/** Hexadecimal digits of a chunk size: more than any body needs. */
const SIZE_DIGITS_MAX = 12;
/** Chunk extensions and trailers are skipped; longer ones are treated as an attack. */
const IGNORED_BYTES_MAX = 16 * 1024;

/** Next element of a chunked body (RFC 9112 section 7.1). */
type Place =
  | ('size' | 'size-blank' | 'extension' | 'size-lf')
  | ('data' | 'data-cr' | 'data-lf')
  | ('trailer' | 'trailer-lf' | 'done');

class ChunkedDecoder implements BodyDecoder {
  readonly endsWithConnection = false;
  #place: Place = 'size';
  #left = 0;
  #digits = 0;
  #ignored = 0;
  #trailerLength = 0;
  #hasSurplus = false;

  take(bytes: Buffer): Buffer {
    // Data is never longer than the input, and all chunks of one read form one piece.
    let out = NOTHING;
    let length = 0;
    let position = 0;
    while (position < bytes.length && this.#place !== 'done') {
      if (this.#place !== 'data') {
        this.#step(bytes[position] ?? 0);
        position += 1;
        continue;
      }
      const end = Math.min(bytes.length, position + this.#left);
      if (length === 0) out = Buffer.allocUnsafe(bytes.length - position);
      length += bytes.copy(out, length, position, end);
      this.#left -= end - position;
      position = end;
      if (this.#left === 0) this.#place = 'data-cr';
    }
    this.#hasSurplus = position < bytes.length;
    if (length === 0) return NOTHING;
    // Copied if small: a retained piece of tiny chunks would otherwise hold many times its bytes.
    return length * 2 < out.length ? Buffer.from(out.subarray(0, length)) : out.subarray(0, length);
  }

  isDone(): boolean {
    return this.#place === 'done';
  }

  hasSurplus(): boolean {
    return this.#hasSurplus;
  }

  #step(byte: number): void {
    switch (this.#place) {
      case 'size':
        this.#takeSize(byte);
        return;
      case 'size-blank':
        this.#takeSizeEnd(byte);
        return;
      case 'extension':
        if (byte === CR) this.#place = 'size-lf';
        else this.#ignore(byte);
        return;
      case 'size-lf':
        expect(byte, LF);
        this.#place = this.#left === 0 ? 'trailer' : 'data';
        return;
      case 'data-cr':
        expect(byte, CR);
        this.#place = 'data-lf';
        return;
      case 'data-lf':
        expect(byte, LF);
        this.#place = 'size';
        this.#digits = 0;
        this.#ignored = 0;
        return;
      default:
        this.#takeTrailer(byte);
    }
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.#digits += 1;
      if (this.#digits > SIZE_DIGITS_MAX) throw new BadResponseError('the size of a chunk is too long');
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new BadResponseError('a chunk has no size');
    this.#takeSizeEnd(byte);
  }

  /** Some servers pad the size with blanks. */
  #takeSizeEnd(byte: number): void {
    if (byte === CR) this.#place = 'size-lf';
    else if (byte === SEMICOLON) this.#place = 'extension';
    else if (byte !== 0x20 && byte !== 0x09) throw new BadResponseError('the size of a chunk is not a number');
    else {
      this.#place = 'size-blank';
      this.#ignore(byte);
    }
  }

  /** Trailers are skipped. */
  #takeTrailer(byte: number): void {
    if (this.#place === 'trailer-lf') {
      expect(byte, LF);
      this.#place = this.#trailerLength === 0 ? 'done' : 'trailer';
      this.#trailerLength = 0;
    } else if (byte === CR) {
      this.#place = 'trailer-lf';
    } else {
      this.#trailerLength += 1;
      this.#ignore(byte);
    }
  }

  #ignore(byte: number): void {
    this.#ignored += 1;
    if (byte === LF || this.#ignored > IGNORED_BYTES_MAX) throw new BadResponseError('a chunked body is damaged');
  }
}

const expect = (byte: number, wanted: number): void => {
  if (byte !== wanted) throw new BadResponseError('a chunked body is damaged');
};

const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
};

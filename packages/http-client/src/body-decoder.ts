import { BadResponseError, type Framing } from './response-head.ts';

/** Takes a body out of the bytes of a connection. */
export interface BodyDecoder {
  /** Answers what these bytes hold of the body, in memory of its own. Throws BadResponseError. */
  readonly take: (bytes: Buffer) => Buffer;
  /** Whether the body is complete. */
  readonly isDone: () => boolean;
  /** Whether the body may end where the connection ends. */
  readonly endsWithConnection: boolean;
  /** Whether bytes came behind the end of the body. */
  readonly hasSurplus: () => boolean;
}

const NOTHING = Buffer.alloc(0);

/** Creates the decoder of a body that is framed so. */
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
/** Of a size in hexadecimal digits: more than any body has. */
const SIZE_DIGITS_MAX = 12;
/** The extensions of a chunk and the trailers are passed over; longer ones are an attack. */
const IGNORED_BYTES_MAX = 16 * 1024;

/** What stands next in a chunked body (RFC 9112 section 7.1). */
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
    // Data is never longer than what it came in, and all chunks of one read leave as one piece.
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
    // A piece that is kept must not keep many times its bytes, as it would where chunks are tiny.
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

  /** Some servers fill up with blanks what they left room for. */
  #takeSizeEnd(byte: number): void {
    if (byte === CR) this.#place = 'size-lf';
    else if (byte === SEMICOLON) this.#place = 'extension';
    else if (byte !== 0x20 && byte !== 0x09) throw new BadResponseError('the size of a chunk is no number');
    else {
      this.#place = 'size-blank';
      this.#ignore(byte);
    }
  }

  /** Trailers are read to their end and not looked at. */
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

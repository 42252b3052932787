import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '@svc/contracts';
import { findStringEnd, UNENDED_IN_ESCAPE } from '../wire/index.ts';

/** Limits of the number of values and the nesting of a JSON text. */
export interface JsonShapeLimits {
  readonly valuesMax: number;
  /** The root counts as one level. */
  readonly depthMax: number;
}

const JSON_SHAPE_LIMITS: JsonShapeLimits = { valuesMax: JSON_VALUES_MAX, depthMax: JSON_DEPTH_MAX };

const OTHER = 0;
const BLANK = 1;
const STRING = 2;
const OPEN = 3;
const CLOSE = 4;
const COMMA = 5;
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n')) KINDS[byte] = BLANK;
const OPENINGS = [...Buffer.from('{[')];
for (const byte of OPENINGS) KINDS[byte] = OPEN;
for (const byte of Buffer.from('}]')) KINDS[byte] = CLOSE;
KINDS[0x22] = STRING;
KINDS[0x2c] = COMMA;

const INSIDE_STRING = -1;
/** Shorter texts have few values, so that only their depth is of interest. */
const UNCOUNTED_BYTES = 16 * 1024;

/**
 * Counts the values and the depth of a JSON text while it arrives, at a few nanoseconds per byte. It does not validate: for
 * text that is not JSON, the count is an upper bound of the values that a parser reads before it fails.
 */
export class JsonShape {
  readonly #limits: JsonShapeLimits;
  #values = 1;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True if the last non-blank byte opened an array or object, which may still be empty. */
  #hasJustOpened = false;

  constructor(limits: JsonShapeLimits = JSON_SHAPE_LIMITS) {
    this.#limits = limits;
  }

  /** Number of values so far: root, members and elements. 1 for a short text, which is not counted. */
  get values(): number {
    return this.#values;
  }

  /** Counts the next bytes. Returns false once the text exceeds a limit. The values of a short text are not counted. */
  push(bytes: Buffer, isWhole = false): boolean {
    if (isWhole && bytes.length <= UNCOUNTED_BYTES && this.#isFlat(bytes)) return true;
    let at = this.#isInString ? this.#finishString(bytes, 0) : 0;
    const { length } = bytes;
    while (at !== INSIDE_STRING && at < length) {
      const kind = KINDS[bytes[at] ?? 0];
      at += 1;
      if (kind === BLANK) continue;
      if (this.#hasJustOpened) {
        this.#hasJustOpened = false;
        if (kind !== CLOSE) this.#values += 1;
      }
      if (kind === OTHER) continue;
      if (kind === STRING) at = this.#finishString(bytes, at);
      else if (kind === COMMA) this.#values += 1;
      else if (kind === CLOSE) this.#depth -= 1;
      else {
        this.#depth += 1;
        this.#hasJustOpened = true;
        if (this.#depth > this.#limits.depthMax) return false;
      }
    }
    return this.#values <= this.#limits.valuesMax;
  }

  /** Returns true if a text opens too few arrays and objects to be too deep. Searches several times faster than it counts. */
  #isFlat(bytes: Buffer): boolean {
    let openedMax = this.#limits.depthMax;
    for (const opening of OPENINGS) {
      for (let at = bytes.indexOf(opening); at >= 0; at = bytes.indexOf(opening, at + 1)) openedMax -= 1;
    }
    return openedMax >= 0;
  }

  /** Returns the offset after the closing quote, or `INSIDE_STRING`. */
  #finishString(bytes: Buffer, from: number): number {
    const isContinued = this.#isEscaped && bytes.length > from;
    const end = findStringEnd(bytes, isContinued ? from + 1 : from);
    this.#isInString = end < 0;
    this.#isEscaped = end === UNENDED_IN_ESCAPE || (this.#isEscaped && !isContinued);
    return this.#isInString ? INSIDE_STRING : end;
  }
}

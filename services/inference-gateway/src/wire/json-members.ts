/** One member of a JSON object, as byte offsets into the text it was found in. */
export interface JsonMember {
  readonly key: string;
  readonly valueStart: number;
  /** Exclusive. */
  readonly valueEnd: number;
}

/** Where an object and its own members lie; members of nested objects are not listed. */
export interface JsonObjectSpan {
  /** Offset of `{`. */
  readonly open: number;
  /** Offset of `}`. */
  readonly close: number;
  readonly members: readonly JsonMember[];
}

/** A replacement of bytes; `start` equal to `end` inserts. */
export interface ByteEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/**
 * Finds the members of the object that starts at or after `from`, so that single values can be replaced while every other
 * byte stays as it came. The bytes must have passed `JSON.parse` before: this only looks, it does not judge. Throws
 * RangeError where there is no object.
 */
export const scanObject = (bytes: Buffer, from = 0): JsonObjectSpan => {
  const open = skipBlank(bytes, from);
  if (bytes[open] !== OPEN_BRACE) throw new RangeError('the JSON text is not an object');
  const members: JsonMember[] = [];
  let position = skipBlank(bytes, open + 1);
  while (bytes[position] !== CLOSE_BRACE) {
    const keyEnd = skipString(bytes, position);
    const key = readKey(bytes, position, keyEnd);
    const colon = skipBlank(bytes, keyEnd);
    if (bytes[colon] !== COLON) throw new RangeError('the JSON text is damaged');
    const valueStart = skipBlank(bytes, colon + 1);
    const valueEnd = skipValue(bytes, valueStart);
    members.push({ key, valueStart, valueEnd });
    position = skipBlank(bytes, valueEnd);
    if (bytes[position] === COMMA) position = skipBlank(bytes, position + 1);
  }
  return { open, close: position, members };
};

/** The last member of that name: the one that `JSON.parse` believes. */
export const findMember = (span: JsonObjectSpan, key: string): JsonMember | undefined =>
  span.members.findLast((member) => member.key === key);

/** The first key that stands twice in the object, which two parsers could read in two ways. */
export const findDuplicateKey = (span: JsonObjectSpan): string | undefined => {
  const seen = new Set<string>();
  for (const { key } of span.members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
};

/** An edit that adds members (`"key":value` texts) in front of all others. */
export const insertFirst = (span: JsonObjectSpan, members: readonly string[]): ByteEdit => ({
  start: span.open + 1,
  end: span.open + 1,
  text: members.join(',') + (span.members.length > 0 ? ',' : ''),
});

/** An edit that adds a member (`"key":value`) behind all others. */
export const insertLast = (span: JsonObjectSpan, member: string): ByteEdit => {
  const last = span.members.at(-1);
  const at = last?.valueEnd ?? span.open + 1;
  return { start: at, end: at, text: last === undefined ? member : `,${member}` };
};

/** Applies edits, which must be in order and must not overlap; what lies between them is copied as it is. */
export const applyEdits = (bytes: Buffer, edits: readonly ByteEdit[]): Buffer => {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, text } of edits) {
    if (start < position) throw new RangeError('edits overlap or are out of order');
    pieces.push(bytes.subarray(position, start), Buffer.from(text));
    position = end;
  }
  pieces.push(bytes.subarray(position));
  return Buffer.concat(pieces);
};

const readKey = (bytes: Buffer, start: number, end: number): string => {
  const quoted = bytes.toString('utf8', start, end);
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
};

const skipBlank = (bytes: Buffer, from: number): number => {
  let position = from;
  // Space, tab, line feed and carriage return are the only blanks of JSON, and nothing else of JSON is below 0x21.
  while (position < bytes.length && (bytes[position] ?? 0) <= SPACE) position += 1;
  return position;
};

/** Offset behind the closing quote of the string that starts at `open`. */
const skipString = (bytes: Buffer, open: number): number => {
  let quote = open;
  for (;;) {
    quote = bytes.indexOf(QUOTE, quote + 1);
    if (quote === -1) throw new RangeError('the JSON text is damaged');
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
};

const skipValue = (bytes: Buffer, start: number): number => {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, start);
  let position = start;
  while (position < bytes.length && !endsScalar(bytes[position])) position += 1;
  return position;
};

const endsScalar = (byte: number | undefined): boolean =>
  byte === undefined || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE;

const skipNested = (bytes: Buffer, start: number): number => {
  let depth = 0;
  let position = start;
  while (position < bytes.length) {
    const byte = bytes[position];
    if (byte === QUOTE) {
      position = skipString(bytes, position);
      continue;
    }
    position += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return position;
    }
  }
  throw new RangeError('the JSON text is damaged');
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Bytes that are compared one by one before native search is used. Most strings are shorter. */
const SHORT_STRING_BYTES = 24;

/** The text ends within the string. */
const UNENDED = -1;
/** The text ends within the string, right after the backslash of an escape. */
export const UNENDED_IN_ESCAPE = -2;

/** Returns the offset after the quote that ends the JSON string with content from `from` on; negative if it does not end. */
export const findStringEnd = (bytes: Buffer, from: number): number => {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const shortEnd = Math.min(length, at + SHORT_STRING_BYTES);
    while (at < shortEnd) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= length) break;
    const quote = bytes.indexOf(QUOTE, at);
    const end = quote === -1 ? length : quote;
    const isEscaped = countBackslashes(bytes, at, end) % 2 === 1;
    if (quote !== -1 && !isEscaped) return quote + 1;
    at = isEscaped ? end + 1 : end;
  }
  return at > length ? UNENDED_IN_ESCAPE : UNENDED;
};

/** Counts the backslashes directly before `end`. */
const countBackslashes = (bytes: Buffer, start: number, end: number): number => {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at -= 1;
  return end - at;
};

/** One member of a JSON object, as byte offsets into the text. Ends are exclusive. */
export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Offset of the comma before the member; undefined for the first one. */
  readonly commaBefore: number | undefined;
  /** Offset of the comma after the member; undefined for the last one. */
  readonly commaAfter: number | undefined;
}

/** Offsets of an object and of its direct members. */
export interface JsonObjectSpan {
  /** Offset of `{`. */
  readonly open: number;
  /** Offset of `}`. */
  readonly close: number;
  /** End of the last member, listed or not; undefined for an object without members. */
  readonly lastValueEnd: number | undefined;
  readonly members: readonly JsonMember[];
}

/** Names of the members to list. */
export type KeyFilter = Pick<ReadonlySet<string>, 'has'>;

/** Replacement of bytes, or an insertion if `start` equals `end`. */
export interface ByteEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/**
 * Finds the members of the object that starts at or after `from`, so that single values can be replaced without changing
 * any other byte. Lists only the members in `keys`, if given. Does not validate: the bytes must have passed `JSON.parse`.
 * Throws RangeError if there is no object.
 */
export const scanObject = (bytes: Buffer, from = 0, keys?: KeyFilter): JsonObjectSpan => {
  const open = skipBlank(bytes, from);
  if (bytes[open] !== OPEN_BRACE) throw new RangeError('the JSON text is not an object');
  const members: JsonMember[] = [];
  let lastValueEnd: number | undefined;
  let commaBefore: number | undefined;
  let position = skipBlank(bytes, open + 1);
  while (bytes[position] !== CLOSE_BRACE) {
    const keyStart = position;
    const keyEnd = skipString(bytes, keyStart);
    const key = readKey(bytes, keyStart, keyEnd);
    const colon = skipBlank(bytes, keyEnd);
    if (bytes[colon] !== COLON) throw new RangeError('the JSON text is damaged');
    const valueStart = skipBlank(bytes, colon + 1);
    const valueEnd = skipValue(bytes, valueStart);
    position = skipBlank(bytes, valueEnd);
    const commaAfter = bytes[position] === COMMA ? position : undefined;
    if (keys === undefined || keys.has(key)) {
      members.push({ key, keyStart, keyEnd, valueStart, valueEnd, commaBefore, commaAfter });
    }
    lastValueEnd = valueEnd;
    commaBefore = commaAfter;
    if (commaAfter !== undefined) position = skipBlank(bytes, commaAfter + 1);
  }
  return { open, close: position, lastValueEnd, members };
};

/** Finds the elements of the list that starts at `open`. Like `scanObject`, it does not validate. */
export const scanArray = (bytes: Buffer, open: number): { readonly start: number; readonly end: number }[] => {
  const elements: { readonly start: number; readonly end: number }[] = [];
  let position = skipBlank(bytes, open + 1);
  while (bytes[position] !== CLOSE_BRACKET) {
    const end = skipValue(bytes, position);
    if (end === position) throw new RangeError('the JSON text is damaged');
    elements.push({ start: position, end });
    position = skipBlank(bytes, end);
    if (bytes[position] === COMMA) position = skipBlank(bytes, position + 1);
  }
  return elements;
};

/** Returns the same span with only the members in `keys`. */
export const narrowSpan = (span: JsonObjectSpan, keys: ReadonlySet<string>): JsonObjectSpan => ({
  ...span,
  members: span.members.filter(({ key }) => keys.has(key)),
});

/** Returns the last member of that name, as `JSON.parse` does. */
export const findMember = (span: JsonObjectSpan, key: string): JsonMember | undefined =>
  span.members.findLast((member) => member.key === key);

/** Returns the first key that appears twice in the object: two parsers could read two different values. */
export const findDuplicateKey = (span: JsonObjectSpan): string | undefined => {
  const seen = new Set<string>();
  for (const { key } of span.members) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
};

/** Returns an edit that adds members (`"key":value`) before all others. */
export const insertFirst = (span: JsonObjectSpan, members: readonly string[]): ByteEdit => ({
  start: span.open + 1,
  end: span.open + 1,
  text: members.join(',') + (span.lastValueEnd === undefined ? '' : ','),
});

/** Returns an edit that adds a member (`"key":value`) after all others. */
export const insertLast = (span: JsonObjectSpan, member: string): ByteEdit => {
  const at = span.lastValueEnd ?? span.open + 1;
  return { start: at, end: at, text: span.lastValueEnd === undefined ? member : `,${member}` };
};

/** Returns edits that remove members, each with one comma. */
export const removeMembers = (removed: readonly JsonMember[]): ByteEdit[] => {
  const edits: ByteEdit[] = [];
  /** The comma after the members that were removed from the start of the object. */
  let leadingComma: number | undefined;
  for (const member of removed) {
    const isLeading = member.commaBefore === undefined || member.commaBefore === leadingComma;
    if (isLeading) leadingComma = member.commaAfter;
    const start = isLeading ? member.keyStart : (member.commaBefore ?? member.keyStart);
    const end = isLeading && member.commaAfter !== undefined ? member.commaAfter + 1 : member.valueEnd;
    edits.push({ start, end, text: '' });
  }
  return edits;
};

/** Applies edits and returns the new text in pieces, without copying. Throws RangeError if edits overlap or are unsorted. */
export const editPieces = (bytes: Buffer, edits: readonly ByteEdit[]): Buffer[] => {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const { start, end, text } of edits) {
    if (start < position) throw new RangeError('edits overlap or are out of order');
    if (start > position) pieces.push(bytes.subarray(position, start));
    if (text !== '') pieces.push(Buffer.from(text));
    position = end;
  }
  if (position < bytes.length) pieces.push(bytes.subarray(position));
  return pieces;
};

/** Applies edits and returns the new text in one buffer. */
export const applyEdits = (bytes: Buffer, edits: readonly ByteEdit[]): Buffer =>
  Buffer.concat(editPieces(bytes, edits));

const readKey = (bytes: Buffer, start: number, end: number): string => {
  const quoted = bytes.toString('utf8', start, end);
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
};

const skipBlank = (bytes: Buffer, from: number): number => {
  let position = from;
  // Outside of strings, JSON has no other bytes up to 0x20 than space, tab, line feed and carriage return.
  while (position < bytes.length && (bytes[position] ?? 0) <= SPACE) position += 1;
  return position;
};

/** Returns the offset after the closing quote of the string that starts at `open`. */
const skipString = (bytes: Buffer, open: number): number => {
  const end = findStringEnd(bytes, open + 1);
  if (end < 0) throw new RangeError('the JSON text is damaged');
  return end;
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

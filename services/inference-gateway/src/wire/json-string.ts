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

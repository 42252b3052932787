/** RFC 3986 §3.3: a path of `pchar` segments. */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;
/** Encoded bytes that some software decodes to structure: NUL, slash, backslash. */
const ENCODED_STRUCTURE = /%(?:00|2f|5c)/i;
/** A dot segment in any spelling (RFC 3986 §5.2.4; WHATWG URL decodes `%2e` first). */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Returns the path of a request target. Undefined if two readers could find different segments in it: dot segments, empty
 * segments, encoded slashes, or no path at all (`*`, an absolute URL).
 */
export const readRequestPath = (target: string | undefined): string | undefined => {
  const path = (target ?? '').split('?', 1)[0] ?? '';
  if (!PATH.test(path) || ENCODED_STRUCTURE.test(path)) return undefined;
  const segments = path.slice(1).split('/');
  const isAmbiguous = segments.some((segment, index) => {
    const isTrailingSlash = segment === '' && index === segments.length - 1;
    return (segment === '' && !isTrailingSlash) || DOT_SEGMENT.test(segment);
  });
  return isAmbiguous ? undefined : path;
};

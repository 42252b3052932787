import { routes } from '@svc/contracts';

/** RFC 3986 §3.3: a path of `pchar` segments. */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;
/** Encoded bytes that some software decodes to structure: NUL, slash, backslash. */
const ENCODED_STRUCTURE = /%(?:00|2f|5c)/i;
const ENCODED_SLASH = /%2f/gi;
/** A dot segment in any spelling (RFC 3986 §5.2.4; WHATWG URL decodes `%2e` first). */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
/** Everything below is one id, in which a slash means the same encoded or not. */
const MODELS = `${routes.listModels.path}/`;

/** One segment below these is a client id. That of a metadata document is an address, whose slashes are encoded. */
const CLIENT_ADDRESS = new RegExp(
  `^(?:${routes.listApps.path}|${routes.listConnections.path})/https(?::|%3A)(?:%2F){2}[^/]+`,
  'i',
);

/**
 * Returns the path of a request target. Undefined if two readers could find different segments in it: dot segments, empty
 * segments, encoded slashes outside of a client id, or no path at all (`*`).
 */
export const readRequestPath = (target: string | undefined): string | undefined => {
  const path = (target ?? '').split('?', 1)[0] ?? '';
  const plain = path.startsWith(MODELS) ? path.replace(ENCODED_SLASH, '/') : withoutAddress(path);
  if (!PATH.test(path) || ENCODED_STRUCTURE.test(plain)) return undefined;
  const segments = plain.slice(1).split('/');
  const isAmbiguous = segments.some((segment, index) => {
    const isTrailingSlash = segment === '' && index === segments.length - 1;
    return (segment === '' && !isTrailingSlash) || DOT_SEGMENT.test(segment);
  });
  return isAmbiguous ? undefined : path;
};

/** Hides the encoded slashes of a client id, of which its owner reads the whole segment. */
const withoutAddress = (path: string): string =>
  path.replace(CLIENT_ADDRESS, (client) => client.replace(ENCODED_SLASH, '_'));

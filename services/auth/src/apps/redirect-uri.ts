/** Characters of RFC 3986, except the wildcard, the fragment sign and those that parsers treat differently. */
const ALLOWED_CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=%]+$/;
const SCHEME = /^([a-z][a-z0-9+.-]*):/;
/** RFC 8252 section 7.1: a domain name of the app's maker, reversed. */
const REVERSE_DOMAIN = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+$/;
/** Encoded slash, backslash, dot, and delimiters of path and authority. Servers differ in when they decode these. */
const ENCODED_DELIMITER = /%(2f|5c|2e|23|3f|40|25)/i;
const ENCODED_CONTROL = /%(0|1)[0-9a-f]|%7f/i;
/** Parameters that we append; a registered one would be duplicated. */
const OUR_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description', 'response'];
/** A loopback IP address, its port, and the rest. */
const LOOPBACK_IP = /^http:\/\/(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::(\d{1,5}))?(?=[/?]|$)/;
/** Also accepts port 80, although URL normalization drops it: an app may listen there. */
const PORT = /^[1-9]\d*$/;
const PORT_MAX = 65_535;

/** A confidential app can keep a secret; a public one cannot. */
export type ClientType = 'public' | 'confidential';

/**
 * Returns the fault of a redirect URI, or undefined. Stricter than RFC 6749 section 3.1.2: each URI has only one
 * accepted spelling, so that string comparison matches how browsers and servers interpret it (RFC 9700 section 2.1).
 */
export const findRedirectUriFault = (uri: string, clientType: ClientType): string | undefined => {
  if (uri.includes('#')) return 'a redirect URI must have no fragment';
  if (uri.includes('*')) return 'a redirect URI must have no wildcard';
  if (!ALLOWED_CHARACTERS.test(uri)) return 'the redirect URI holds a character that must be percent-encoded';
  if (/%(?![0-9A-Fa-f]{2})/.test(uri)) return 'the redirect URI is not percent-encoded correctly';
  const scheme = SCHEME.exec(uri)?.[1];
  const url = URL.parse(uri);
  if (scheme === undefined || url === null) return 'the redirect URI must be absolute, its scheme in lower case';
  return findSchemeFault({ uri, scheme, url, clientType }) ?? findPartFault(uri, url);
};

interface Parsed {
  readonly uri: string;
  readonly scheme: string;
  readonly url: URL;
  readonly clientType: ClientType;
}

const findSchemeFault = ({ uri, scheme, url, clientType }: Parsed): string | undefined => {
  if (scheme === 'https' || scheme === 'http') {
    if (!uri.startsWith(`${scheme}://`)) return 'the redirect URI must name a host after `://`';
    return scheme === 'http' && !isLoopback(url) ? 'http is only for loopback addresses: use https' : undefined;
  }
  if (!REVERSE_DOMAIN.test(scheme)) return 'the scheme must be https, http on loopback, or a reverse domain name';
  if (clientType === 'confidential') return 'a private scheme is only for public apps';
  return uri.startsWith(`${scheme}:/`) ? undefined : 'a slash must follow the private scheme';
};

const findPartFault = (uri: string, url: URL): string | undefined => {
  const [beforeQuery = '', query = ''] = splitOnce(uri, '?');
  const authority = /^[^/]*:\/\/([^/]*)/.exec(beforeQuery)?.[1] ?? '';
  if (authority.includes('@') || url.username !== '') return 'a redirect URI must have no userinfo';
  if (/(^|[^:])\/\//.test(beforeQuery.replace(/^[^/]*:\/\//, ''))) return 'the path must have no empty segment';
  if (ENCODED_DELIMITER.test(beforeQuery)) return 'the path must not encode delimiters or dots';
  if (ENCODED_CONTROL.test(uri)) return 'a redirect URI must not encode control characters';
  if (url.hostname.endsWith('.') || url.hostname.includes('..')) return 'the host name is malformed';
  if (!isCanonical(uri, url)) return 'the redirect URI must be in its normal form';
  if (OUR_PARAMETERS.some((name) => new URLSearchParams(query).has(name))) {
    return 'the query must not hold parameters of the answer';
  }
  return undefined;
};

/**
 * Returns true if the parser leaves the URI unchanged. It normalizes dot segments, default ports, numeric hosts and
 * case.
 */
const isCanonical = (uri: string, url: URL): boolean => {
  if (url.href === uri) return true;
  const isBareHost = /^https?:\/\/[^/?]+(\?|$)/.test(uri);
  return isBareHost && url.href === uri.replace(/^(https?:\/\/[^/?]+)/, '$1/');
};

const isLoopback = (url: URL): boolean =>
  url.hostname === 'localhost' || url.hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(url.hostname);

const splitOnce = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

/**
 * Returns true if a presented redirect URI equals a registered one. For a loopback IP the port may differ, because a
 * native app only knows it at run time (RFC 8252 section 7.3).
 */
export const isRegisteredRedirectUri = (registered: readonly string[], presented: string): boolean => {
  if (registered.includes(presented)) return true;
  const portless = withoutLoopbackPort(presented);
  return portless !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === portless);
};

const withoutLoopbackPort = (uri: string): string | undefined => {
  const found = LOOPBACK_IP.exec(uri);
  const port = found?.[2];
  if (found === null || (port !== undefined && !(PORT.test(port) && Number(port) <= PORT_MAX))) return undefined;
  return uri.replace(LOOPBACK_IP, 'http://$1');
};

/** Appends response parameters to a redirect URI without changing its registered bytes. */
export const addToRedirectUri = (uri: string, parameters: Readonly<Record<string, string>>): string => {
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return `${uri}${separator}${new URLSearchParams(parameters)}`;
};

/** Returns the source for a page's `form-action`, which browsers apply to the redirect after a form (CSP 3 section 6.4.2). */
export const toFormActionSource = (uri: string): string => {
  const { protocol, hostname, origin } = new URL(uri);
  // CSP has no way to write an IPv6 host.
  const hasHost = (protocol === 'https:' || protocol === 'http:') && !hostname.startsWith('[');
  return hasHost ? origin : protocol;
};

/** Returns the part of the redirect address that the consent page shows. */
export const toRedirectHost = (uri: string): string => {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
};

import { isIP } from 'node:net';
import { URL_CHARACTERS_MAX } from '@svc/contracts';

/** Cause of a refusal. It contains no part of the URL, so it may be shown and logged. */
export type DestinationFault =
  | 'url_invalid'
  | 'scheme_not_https'
  | 'userinfo_not_allowed'
  | 'port_not_allowed'
  // The same for unknown names and private addresses, so that it reveals nothing about our network.
  | 'no_public_address';

/** Thrown for a destination that is not allowed, before any connection. */
export class DestinationError extends Error {
  readonly fault: DestinationFault;

  constructor(fault: DestinationFault) {
    super(fault);
    this.name = 'DestinationError';
    this.fault = fault;
  }
}

/** A receiver's URL, parsed once. Only these parts are used afterwards. */
export interface Destination {
  /** Host name in ASCII, or an IP address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
  /** Value of the Host header. */
  readonly authority: string;
  /** Name in SNI and in the certificate; empty for an IP address (RFC 6066 section 3). */
  readonly serverName: string;
  readonly path: string;
  /** The operator allows private addresses for this host and port. */
  readonly isAllowTarget: boolean;
}

/** Normalized `host:port` entries. */
export type AllowTargets = ReadonlySet<string>;

const HTTPS_PORT = 443;
const UNPRIVILEGED_PORT_MIN = 1024;
/** Scheme, two slashes and a host, without the blanks, control characters or backslashes that URL parsers repair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression refuses them.
const STRICT_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^\s\u0000-\u001f\u007f\\/?#]+([/?#][^\s\u0000-\u001f\u007f\\]*)?$/i;

/** A host name within the limits of DNS (RFC 1035 section 2.3.4), with or without a trailing dot; no empty punycode. */
const NAME = /^(?=.{1,254}$)(?!(?:.*\.)?xn--(?:\.|$))[^.]{1,63}(?:\.[^.]{1,63})*\.?$/;

/**
 * Parses a receiver's URL and checks all but its addresses. Throws DestinationError. Refuses a text that a URL parser would have
 * to repair (blanks, backslashes, missing slashes, percent-encoded hosts), because another parser could find another host in it.
 */
export const parseDestination = (text: string, allowTargets: AllowTargets): Destination => {
  if (text.length === 0 || text.length > URL_CHARACTERS_MAX) throw new DestinationError('url_invalid');
  const url = URL.parse(text);
  if (url !== null && url.protocol !== 'https:') throw new DestinationError('scheme_not_https');
  if (url === null || !STRICT_FORM.test(text)) throw new DestinationError('url_invalid');
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  if (url.username !== '' || url.password !== '' || authority.includes('@')) {
    throw new DestinationError('userinfo_not_allowed');
  }
  if (url.hostname === '' || authority.includes('%')) throw new DestinationError('url_invalid');
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < UNPRIVILEGED_PORT_MIN) throw new DestinationError('port_not_allowed');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isAddress = isIP(host) !== 0;
  if (!isAddress && !NAME.test(host)) throw new DestinationError('url_invalid');
  return {
    host,
    isAddress,
    port,
    authority: url.host,
    // A trailing dot makes a name absolute for the resolver. Certificates leave it out (RFC 6066 section 3).
    serverName: isAddress ? '' : host.replace(/\.$/, ''),
    path: `${url.pathname}${url.search}`,
    isAllowTarget: allowTargets.has(targetKey(url.hostname, port)),
  };
};

/** Parses `host:port` entries of the configuration. Throws TypeError with the malformed entry. */
export const parseAllowTargets = (entries: readonly string[]): AllowTargets =>
  new Set(
    entries.map((entry) => {
      const url = URL.parse(`https://${entry}`);
      const isPlain =
        url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
      if (!isPlain || !/:\d+$/.test(entry)) throw new TypeError(`expected host:port, but found ${entry}`);
      return targetKey(url.hostname, url.port === '' ? HTTPS_PORT : Number(url.port));
    }),
  );

const targetKey = (hostname: string, port: number): string => `${hostname.replace(/\.$/, '')}:${port}`;

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Headers of one connection (RFC 9110 §7.6.1). `transfer-encoding` stays, as it frames the forwarded body. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'];
const ANSWERED_HERE = ['expect'];
/** Headers by which proxies describe a client. From outside they are unproven claims. */
const CLAIMS = ['forwarded', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'x-request-id', 'via'];
const CLAIM_PREFIX = 'x-forwarded-';

export interface ForwardedRequest {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
}

/** Removes the headers of this hop and the claims from outside, then sets request id and client address, in place. */
export const setForwardedHeaders = (headers: IncomingHttpHeaders, request: ForwardedRequest): void => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  // A client may not remove a header that frames the message.
  const nominated = named.filter(
    (name) => name !== 'transfer-encoding' && name !== 'content-length' && name !== 'host',
  );
  for (const name of [...HOP_BY_HOP, ...ANSWERED_HERE, ...CLAIMS, ...nominated]) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (name.startsWith(CLAIM_PREFIX)) delete headers[name];
  }
  headers['x-request-id'] = request.requestId;
  headers['x-forwarded-for'] = request.clientAddress;
  headers['x-forwarded-proto'] = request.scheme;
  if (headers.host !== undefined) headers['x-forwarded-host'] = headers.host;
};

/** Returns the address of a socket. On a dual-stack socket, an IPv4 address loses its IPv6 prefix. */
const plainAddress = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');

/**
 * Returns the client's address: the one that the outermost of `hops` trusted proxies states, or that of the socket without proxies.
 * Entries further left are unproven claims.
 */
export const clientAddressOf = ({ headers, socket }: IncomingMessage, hops: number): string => {
  const stated = (headers['x-forwarded-for']?.toString() ?? '').split(',').map((entry) => entry.trim());
  const address = hops === 0 ? undefined : stated.at(-hops);
  return plainAddress(address !== undefined && isIP(address) !== 0 ? address : socket.remoteAddress);
};

/** Returns the response headers of a service by name, without those of the connection to it. */
export const passedOnHeaders = (rawHeaders: readonly string[]): Map<string, string[]> => {
  const kept = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const lowerName = name.toLowerCase();
    if (HOP_BY_HOP.includes(lowerName) || lowerName === 'transfer-encoding' || lowerName === 'x-request-id') continue;
    kept.set(name, [...(kept.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return kept;
};

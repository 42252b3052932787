import type { IncomingHttpHeaders } from 'node:http';

/** RFC 9110 §7.6.1: these concern one connection. `transfer-encoding` stays, as it frames the body that is passed on. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'];
/** Node has answered it already. */
const ANSWERED_HERE = ['expect'];
/** What proxies say of a client: from outside it is a claim that nobody may believe. */
const CLAIMS = ['forwarded', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'x-request-id', 'via'];
const CLAIM_PREFIX = 'x-forwarded-';

/** What the ingress itself says of a request. */
export interface ForwardedRequest {
  requestId: string;
  clientAddress: string;
  scheme: 'http' | 'https';
}

/** Removes what was meant for this hop or claimed from outside, then states request id and client address, in place. */
export const setForwardedHeaders = (headers: IncomingHttpHeaders, request: ForwardedRequest): void => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  // A client may not name a header away that frames the message.
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

/** The address of a socket, with IPv4 written as such also where the socket is dual-stack. */
export const plainAddress = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');

/** Response headers as sent by a service, in pairs, without those that concern only the connection to it. */
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

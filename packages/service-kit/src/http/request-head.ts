import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Faults of a request's head. With most of them, two readers would see two requests or two callers. */
export type HeadFault = 'repeated_host' | 'repeated_authorization' | 'invalid_framing' | 'expectation_failed';

/** Connections on which a head was refused. */
const refused = new WeakSet<Socket>();

/**
 * Returns true for what follows a refused head on its connection: it may be part of the refused request. It gets no
 * response, as the connection closes.
 */
export const followsRefusedHead = ({ socket }: IncomingMessage): boolean => refused.has(socket);

/** Returns the fault of a head, if it has one. The connection must close after the response. */
export const findHeadFault = (req: IncomingMessage): HeadFault | undefined => {
  const fault = faultOf(req);
  if (fault !== undefined) refused.add(req.socket);
  return fault;
};

const faultOf = (req: IncomingMessage): HeadFault | undefined => {
  const { headers, httpVersion, rawHeaders } = req;
  // RFC 9112 section 3.2.
  if (isRepeated(rawHeaders, 'host')) return 'repeated_host';
  // RFC 9110 section 11.6.2: the header is no list.
  if (isRepeated(rawHeaders, 'authorization')) return 'repeated_authorization';
  // RFC 9112 section 6.1: a recipient of HTTP/1.0 may ignore the coding, and take the body for the next request.
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) return 'invalid_framing';
  return hasUnknownExpectation(req) ? 'expectation_failed' : undefined;
};

/** Node keeps the first one in `headers`, other software the last, so only `rawHeaders` shows the ambiguity. */
const isRepeated = (rawHeaders: readonly string[], name: string): boolean => {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count > 1;
};

/** RFC 9110 section 10.1.1: `100-continue` is the only expectation. A recipient of HTTP/1.0 ignores the header. */
const hasUnknownExpectation = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const expectation = headers.expect?.trim().toLowerCase() ?? '';
  return expectation !== '' && expectation !== '100-continue' && httpVersion === '1.1';
};

/** Requests whose sender waits for 100 Continue before it sends the body. */
const uninvited = new WeakSet<IncomingMessage>();

/** Returns true if the sender of a request still waits before it sends the body (RFC 9110 section 10.1.1). */
export const awaitsContinue = (req: IncomingMessage): boolean => uninvited.has(req);

/**
 * Answers `Expect: 100-continue` when the body is first read. A request that is refused by its head gets its final
 * status at once, and its body is never sent. Handles unknown expectations like other requests.
 */
export const continueOnRead = (server: Server): void => {
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    holdInvitation(req, res);
    server.emit('request', req, res);
  });
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    server.emit('request', req, res);
  });
};

const holdInvitation = (req: IncomingMessage, res: ServerResponse): void => {
  uninvited.add(req);
  const invite = (): void => {
    req.off('newListener', onListener).off('resume', invite);
    uninvited.delete(req);
    if (!res.headersSent && !res.destroyed) res.writeContinue();
  };
  const onListener = (event: string | symbol): void => {
    if (event === 'data' || event === 'readable') invite();
  };
  req.on('newListener', onListener).on('resume', invite);
};

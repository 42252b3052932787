import type { IncomingMessage, Server, ServerResponse } from 'node:http';

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

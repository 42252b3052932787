import type { Server, ServerResponse } from 'node:http';

/** Lets a server refuse what is new and answer what is open; resolves when every connection has ended, or the grace. */
export type Drain = (graceMs: number) => Promise<void>;

/**
 * Watches a server's answers, so that it can be drained: the last answer of a kept connection says so, as a busy client would
 * else go on asking on it until the grace is over, and be cut off in the middle of a request.
 */
export const makeDrainable = (server: Server): Drain => {
  const open = new Set<ServerResponse>();
  server.prependListener('request', (_req, res: ServerResponse) => {
    open.add(res);
    res.once('close', () => open.delete(res));
    if (!server.listening) res.setHeader('connection', 'close');
  });
  return (graceMs) =>
    new Promise((resolve) => {
      const deadline = setTimeout(resolve, graceMs);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      for (const res of open) closeAfter(res);
    });
};

/** A head that was sent cannot say it any more: then the connection ends with the answer. */
const closeAfter = (res: ServerResponse): void => {
  if (!res.headersSent) {
    res.setHeader('connection', 'close');
    return;
  }
  const { socket } = res;
  res.once('finish', () => socket?.destroySoon());
};

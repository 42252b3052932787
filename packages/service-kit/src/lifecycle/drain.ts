import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { UnorderedSet } from '../collections/unordered-set.ts';
import { whenClosed } from '../http/when-closed.ts';

/**
 * Refuses new connections and waits for open responses; aborts the rest after `graceMs`. Returns true if none was
 * aborted.
 */
export type Drain = (graceMs: number) => Promise<boolean>;

const POLL_MS = 50;
/** Time for which idle connections stay open after a stop begins: a request may be in transit on each of them. */
const IDLE_LEFT_OPEN_MS = 100;

/**
 * Makes a server drainable. The last response on a keep-alive connection carries `connection: close`; a busy client
 * would otherwise go on until the grace period ends and be cut off mid-request.
 */
export const makeDrainable = (server: Server): Drain => {
  const open = new UnorderedSet<ServerResponse>();
  server.prependListener('request', (_req, res: ServerResponse) => {
    whenClosed(res, open.add(res));
    // Tells the client that this response is the last on its connection.
    if (!server.listening) res.setHeader('connection', 'close');
  });
  return (graceMs) => drain({ server, open }, graceMs);
};

interface Watched {
  readonly server: Server;
  readonly open: UnorderedSet<ServerResponse>;
}

const drain = ({ server, open }: Watched, graceMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    let isWhole = true;
    const idleUntilMs = performance.now() + IDLE_LEFT_OPEN_MS;
    // Not the `close` of an HTTP server, which ends idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearInterval(poll);
      clearTimeout(deadline);
      resolve(isWhole);
    });
    for (const res of open) closeAfter(res);
    const poll = setInterval(() => {
      if (performance.now() >= idleUntilMs) server.closeIdleConnections();
    }, POLL_MS);
    const deadline = setTimeout(() => {
      isWhole = open.size === 0;
      server.closeAllConnections();
    }, graceMs);
  });

/** Closes the connection after this response, so that no client reuses it. */
const closeAfter = (res: ServerResponse): void => {
  if (!res.headersSent) {
    res.setHeader('connection', 'close');
    return;
  }
  const { socket } = res;
  res.once('finish', () => socket?.destroySoon());
};

import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { UnorderedSet } from '../collections/unordered-set.ts';

/** Refuses new connections and waits for open answers; those still open after `graceMs` are cut off. True: none was. */
export type Drain = (graceMs: number) => Promise<boolean>;

const POLL_MS = 50;
/** How long connections that are idle when a stop begins are left open: a request may be on its way on each of them. */
const IDLE_LEFT_OPEN_MS = 100;

/**
 * Watches a server's answers, so that it can be drained: the last answer of a kept connection says so, as a busy client would else
 * go on asking on it until the grace is over, and be cut off in the middle of a request.
 */
export const makeDrainable = (server: Server): Drain => {
  const open = new UnorderedSet<ServerResponse>();
  server.prependListener('request', (_req, res: ServerResponse) => {
    res.once('close', open.add(res));
    // Tells the other side of a kept connection that this answer is the last one.
    if (!server.listening) res.setHeader('connection', 'close');
  });
  return (graceMs) => drain({ server, open }, graceMs);
};

/** A server and its open answers. */
interface Watched {
  readonly server: Server;
  readonly open: UnorderedSet<ServerResponse>;
}

const drain = ({ server, open }: Watched, graceMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    let isWhole = true;
    const idleUntilMs = performance.now() + IDLE_LEFT_OPEN_MS;
    // Not the close of an HTTP server, which ends idle connections at once.
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

/** Ends the connection of an answer with that: whoever finds it kept sends the next request into a closed door. */
const closeAfter = (res: ServerResponse): void => {
  if (!res.headersSent) {
    res.setHeader('connection', 'close');
    return;
  }
  const { socket } = res;
  res.once('finish', () => socket?.destroySoon());
};

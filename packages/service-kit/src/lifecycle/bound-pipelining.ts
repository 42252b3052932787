import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { whenClosed } from '../http/when-closed.ts';

/** Maximum unanswered requests per connection. Proxies and nearly all clients send one at a time. */
const UNANSWERED_MAX = 32;

/**
 * Closes connections that pipeline too many requests (RFC 9112 section 9.3.2). Node emits all requests of one read in
 * the same turn of the event loop, and 64 KiB hold a thousand of them.
 */
export const boundPipelining = (handler: RequestListener): RequestListener => {
  const unanswered = new WeakMap<Socket, number>();
  const countOf = (socket: Socket): number => unanswered.get(socket) ?? 0;
  return (req, res) => {
    const { socket } = req;
    // Node emits the rest of a read even after the connection is closed.
    if (socket.destroyed) return;
    if (countOf(socket) === UNANSWERED_MAX) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, countOf(socket) + 1);
    whenClosed(res, () => unanswered.set(socket, countOf(socket) - 1));
    handler(req, res);
  };
};

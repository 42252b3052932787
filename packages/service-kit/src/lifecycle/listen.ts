import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { continueOnRead } from '../http/request-head.ts';
import { whenClosed } from '../http/when-closed.ts';
import { UnorderedSet } from '../unordered-set.ts';

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

export interface ListenOptions {
  readonly port: number;
  /** `::` accepts IPv6 and IPv4, or IPv4 alone where the system has no IPv6. */
  readonly host: string;
}

/** A server that can be stopped without cutting off its requests. */
export interface Listener {
  readonly port: number;
  readonly url: string;
  readonly drain: Drain;
}

/** For the head of a request. */
const HEADERS_TIMEOUT_MS = 20_000;
/** For a whole request with its body: 25 MB at 1 Mbit/s take 200 s. Responses, and so streams, have no limit. */
const REQUEST_TIMEOUT_MS = 300_000;
/**
 * Longer than the idle timeout of an ingress (nginx: 60 s), so that it never sends on a connection that has just
 * closed.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Limits the head of each request; requests per connection are not limited. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Connections that may wait to be accepted: a client retries a dropped one only after a second. */
const BACKLOG = 4_096;

/**
 * Listens with timeouts that end slow requests but never a stream. Rejects with the system's error, such as EADDRINUSE.
 */
export const listen = async (handler: RequestListener, options: ListenOptions): Promise<Listener> => {
  const server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, connectionsCheckingInterval: 5_000 },
    boundPipelining(handler),
  );
  continueOnRead(server);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.timeout = 0;
  const drain = makeDrainable(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Without a host, Node.js prefers `::` and falls back to 0.0.0.0.
    const host = options.host === '::' ? undefined : options.host;
    server.listen({ port: options.port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = addressOf(server);
  const host = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    drain,
  };
};

const addressOf = (server: Server): AddressInfo => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address;
};

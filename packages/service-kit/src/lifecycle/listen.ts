import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { Bag } from '../collections/bag.ts';

/** Where a server listens. */
export interface ListenOptions {
  port: number;
  host: string;
}

/** A server that can be stopped without cutting off those it serves. */
export interface Listener {
  port: number;
  url: string;
  /** Refuses new connections and waits for open answers; those still open after `graceMs` are cut off. True: none was. */
  drain: (graceMs: number) => Promise<boolean>;
}

/** For the head of a request. */
const HEADERS_TIMEOUT_MS = 20_000;
/** For a whole request with its body: 25 MB at 1 Mbit/s take 200 s. Answers, and so streams, may last as long as they like. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than an ingress keeps an idle connection (nginx: 60 s), so that it never sends on one that just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Requests on one connection are not limited; the head of each is. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Connections that may wait to be taken: a thousand that come within a second must not be dropped, and tried again a second later. */
const BACKLOG = 4_096;
const POLL_MS = 50;
/** How long connections that are idle when a stop begins are left open: a request may be on its way on each of them. */
const IDLE_LEFT_OPEN_MS = 100;

/** Listens with timeouts that end slow requests but never a stream. Rejects with the system's error, such as EADDRINUSE. */
export const listen = async (handler: RequestListener, options: ListenOptions): Promise<Listener> => {
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX, connectionsCheckingInterval: 5_000 }, handler);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.timeout = 0;
  const open = trackAnswers(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = addressOf(server);
  const host = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    drain: (graceMs) => drain(server, open, graceMs),
  };
};

const addressOf = (server: Server): AddressInfo => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address;
};

const trackAnswers = (server: Server): Bag<ServerResponse> => {
  const open = new Bag<ServerResponse>();
  server.prependListener('request', (_req, res: ServerResponse) => {
    res.once('close', open.add(res));
    // Tells the other side of a kept connection that this answer is the last one.
    if (!server.listening) res.setHeader('connection', 'close');
  });
  return open;
};

const drain = (server: Server, open: Bag<ServerResponse>, graceMs: number): Promise<boolean> =>
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

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundPipelining } from './bound-pipelining.ts';
import { type Drain, makeDrainable } from './drain.ts';

export interface ListenOptions {
  port: number;
  host: string;
}

/** A server that can be stopped without cutting off the requests that it serves. */
export interface Listener {
  port: number;
  url: string;
  drain: Drain;
}

/** For the head of a request. */
const HEADERS_TIMEOUT_MS = 20_000;
/** For a whole request with its body: 25 MB at 1 Mbit/s take 200 s. Answers, and so streams, may last as long as they like. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than an ingress keeps an idle connection (nginx: 60 s), so that it never sends on one that just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** Requests on one connection are not limited; the head of each is. */
const HEADER_BYTES_MAX = 16 * 1024;
/** Connections that may wait to be accepted: a dropped one is tried again only a second later. */
const BACKLOG = 4_096;

/** Listens with timeouts that end slow requests but never a stream. Rejects with the system's error, such as EADDRINUSE. */
export const listen = async (handler: RequestListener, options: ListenOptions): Promise<Listener> => {
  const server = createServer(
    { maxHeaderSize: HEADER_BYTES_MAX, connectionsCheckingInterval: 5_000 },
    boundPipelining(handler),
  );
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.timeout = 0;
  const drain = makeDrainable(server);
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
    drain,
  };
};

const addressOf = (server: Server): AddressInfo => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address;
};

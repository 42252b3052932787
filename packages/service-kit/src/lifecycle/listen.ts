import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { continueOnRead } from '../http/expect-continue.ts';
import { boundPipelining } from './bound-pipelining.ts';
import { type Drain, makeDrainable } from './drain.ts';

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

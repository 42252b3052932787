import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from '@svc/testing';

/** A request in latin1. */
export interface RawRequest {
  readonly line: string;
  readonly headers: readonly string[];
  /** Decoded if it was chunked. */
  readonly body: string;
}

export interface RawConnection {
  readonly socket: Socket;
  /** Counts from 1, in order of connection. */
  readonly number: number;
  /** Received bytes that are not yet a complete request, in latin1. */
  readonly pending: () => string;
}

/** A server that sends only what a test tells it to. */
export interface RawHttpServer {
  readonly origin: string;
  readonly port: number;
  readonly connections: readonly RawConnection[];
  readonly requests: readonly RawRequest[];
  readonly close: () => Promise<void>;
}

export interface RawHttpBehavior {
  readonly onConnection?: (connection: RawConnection) => void;
  /** Called for each complete request; a returned text is sent. */
  readonly onRequest?: (request: RawRequest, connection: RawConnection) => string | undefined;
  /** Enables TLS. */
  readonly identity?: Identity;
  /** Default: `127.0.0.1`. */
  readonly host?: string;
}

/** Starts a server on a free port. */
export const startRawHttpServer = async (behavior: RawHttpBehavior = {}): Promise<RawHttpServer> => {
  const connections: RawConnection[] = [];
  const requests: RawRequest[] = [];
  const listen = (socket: Socket): void => {
    let pending = '';
    const connection = { socket, number: connections.length + 1, pending: () => pending };
    connections.push(connection);
    // Many tests disconnect the client on purpose.
    socket.on('error', () => {});
    socket.setNoDelay(true);
    behavior.onConnection?.(connection);
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      if (behavior.onRequest === undefined) return;
      for (;;) {
        const taken = takeRequest(pending);
        if (taken === undefined) return;
        pending = taken.rest;
        requests.push(taken.request);
        const answer = behavior.onRequest(taken.request, connection);
        if (answer !== undefined) socket.write(answer, 'latin1');
      }
    });
  };
  const { identity, host = '127.0.0.1' } = behavior;
  const server =
    identity === undefined
      ? createTcpServer(listen)
      : createTlsServer({ ...identity, ALPNProtocols: ['http/1.1'] }, listen);
  server.listen(0, host);
  await once(server, 'listening');
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${identity === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    connections,
    requests,
    close: async () => {
      for (const { socket } of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const takeRequest = (text: string): { readonly request: RawRequest; readonly rest: string } | undefined => {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...headers] = text.slice(0, end).split('\r\n');
  const after = text.slice(end + 4);
  if (headers.includes('transfer-encoding: chunked')) {
    const taken = takeChunks(after);
    return taken && { request: { line, headers, body: taken.body }, rest: taken.rest };
  }
  const length = Number(headers.find((header) => header.startsWith('content-length: '))?.slice(16) ?? 0);
  if (after.length < length) return undefined;
  return { request: { line, headers, body: after.slice(0, length) }, rest: after.slice(length) };
};

const takeChunks = (text: string): { readonly body: string; readonly rest: string } | undefined => {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const start = lineEnd + 2;
    if (text.length < start + size + 2) return undefined;
    body += text.slice(start, start + size);
    at = start + size + 2;
    if (size === 0) return { body, rest: text.slice(at) };
  }
};

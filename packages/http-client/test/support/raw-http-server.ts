import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from '@svc/testing';

/** A request, word for word in latin1. */
export interface RawRequest {
  /** Its first line. */
  readonly line: string;
  readonly headers: readonly string[];
  /** Out of its chunks, where it came in chunks. */
  readonly body: string;
}

/** A connection of a raw server. */
export interface RawConnection {
  readonly socket: Socket;
  /** From 1, in the order of the connections. */
  readonly number: number;
  /** What came and is no whole request yet, in latin1. */
  readonly pending: () => string;
}

/** A server that says what a test wants it to say, and nothing by itself. */
export interface RawHttpServer {
  readonly origin: string;
  readonly port: number;
  readonly connections: readonly RawConnection[];
  readonly requests: readonly RawRequest[];
  close(): Promise<void>;
}

/** What a raw server does. */
export interface RawHttpBehaviour {
  readonly onConnection?: (connection: RawConnection) => void;
  /** Of each whole request; text that it answers is sent. */
  readonly onRequest?: (request: RawRequest, connection: RawConnection) => string | undefined;
  /** Speaks TLS with this. */
  readonly identity?: Identity;
  /** `127.0.0.1` unless said otherwise. */
  readonly host?: string;
}

/** Starts a server on a port of its own. */
export const startRawHttpServer = async (behaviour: RawHttpBehaviour = {}): Promise<RawHttpServer> => {
  const connections: RawConnection[] = [];
  const requests: RawRequest[] = [];
  const listen = (socket: Socket): void => {
    let pending = '';
    const connection = { socket, number: connections.length + 1, pending: () => pending };
    connections.push(connection);
    // Clients that break off are what many tests are about.
    socket.on('error', () => {});
    socket.setNoDelay(true);
    behaviour.onConnection?.(connection);
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      if (behaviour.onRequest === undefined) return;
      for (;;) {
        const taken = takeRequest(pending);
        if (taken === undefined) return;
        pending = taken.rest;
        requests.push(taken.request);
        const answer = behaviour.onRequest(taken.request, connection);
        if (answer !== undefined) socket.write(answer, 'latin1');
      }
    });
  };
  const { identity, host = '127.0.0.1' } = behaviour;
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
    ...{ port, connections, requests },
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

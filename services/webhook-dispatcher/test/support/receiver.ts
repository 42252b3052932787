import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { type AccountEvent, accountEventSchema, type WebhookEvent, webhookEventSchema } from '@svc/contracts';
import type { Identity } from '@svc/testing';

/** A request as the receiver got it. */
export interface Received<Event = WebhookEvent> {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly event: Event;
  readonly serverName: string | false | null;
  readonly protocol: string | null;
  /** Number of the connection. */
  readonly connection: number;
}

/** A status, or a function that writes the answer. */
export type Behavior = number | ((response: ServerResponse, received: Received<unknown>) => void);

/** A partner's receiver over real TLS. */
export interface Receiver {
  readonly port: number;
  readonly url: string;
  /** Events of apps. */
  readonly received: Received[];
  /** Events of accounts. */
  readonly receivedByAccounts: Received<AccountEvent>[];
  /** Answers of the next requests. `otherwise` follows. */
  readonly next: Behavior[];
  otherwise: Behavior;
  readonly connections: () => number;
  readonly closeConnections: () => void;
  readonly stop: () => Promise<void>;
}

/** Starts a receiver on loopback. */
export const startReceiver = async (identity: Identity, tls: TlsOptions = {}): Promise<Receiver> => {
  const state = { connections: 0 };
  const numbers = new WeakMap<object, number>();
  const server = createServer({ ...identity, ...tls }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      // An HTTPS server's requests come on TLS sockets.
      const socket = request.socket as import('node:tls').TLSSocket & { servername?: string | false | null };
      const body: object = JSON.parse(raw.toString('utf8'));
      const exchange = {
        atMs: performance.now(),
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        raw,
        serverName: socket.servername ?? null,
        protocol: socket.getProtocol(),
        connection: numbers.get(socket) ?? 0,
      };
      const entry =
        'account_id' in body
          ? { ...exchange, event: accountEventSchema.parse(body) }
          : { ...exchange, event: webhookEventSchema.parse(body) };
      if ('account_id' in entry.event) receiver.receivedByAccounts.push({ ...entry, event: entry.event });
      else receiver.received.push({ ...entry, event: entry.event });
      const behavior = receiver.next.shift() ?? receiver.otherwise;
      if (typeof behavior === 'number') response.writeHead(behavior).end('thanks');
      else behavior(response, entry);
    });
  });
  server.on('secureConnection', (socket) => {
    state.connections += 1;
    numbers.set(socket, state.connections);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `https://localhost:${port}/hook`,
    received: [],
    receivedByAccounts: [],
    next: [],
    otherwise: 204,
    connections: () => state.connections,
    closeConnections: () => server.closeAllConnections(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
};

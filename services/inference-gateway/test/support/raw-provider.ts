import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider whose answers a test writes byte by byte, for cases that the sandbox does not cover. */
export interface RawProvider {
  readonly url: string;
  /** Answers the next requests. */
  handle: (req: IncomingMessage, res: ServerResponse, body: Buffer) => void;
  readonly bodies: Buffer[];
  readonly stop: () => Promise<void>;
}

export const startRawProvider = async (): Promise<RawProvider> => {
  const server = createServer(async (req, res) => {
    const body = await readAll(req).catch(() => undefined);
    // The request was aborted.
    if (body === undefined) return;
    provider.bodies.push(body);
    provider.handle(req, res, body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const provider: RawProvider = {
    url: `http://127.0.0.1:${port}`,
    handle: (_req, res) => res.writeHead(500).end(),
    bodies: [],
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
};

const readAll = async (req: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks);
};

export const eventStream = (res: ServerResponse): ServerResponse =>
  res.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'upstream-1' });

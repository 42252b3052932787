import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A site of somebody else, that remembers where browsers came back to it. */
export interface LandingServer {
  readonly origin: string;
  /** Pages that were opened, oldest first. */
  readonly visits: URL[];
  close(): void;
}

/** Starts a site at an origin of its own. */
export const startLandingServer = async (): Promise<LandingServer> => {
  const visits: URL[] = [];
  const server = createServer((request, response) => {
    if (request.url !== '/favicon.ico') visits.push(new URL(request.url ?? '', 'http://127.0.0.1'));
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><html lang="en"><title>Partner</title>Back at the partner');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { origin: `http://127.0.0.1:${port}`, visits, close: () => server.close() };
};

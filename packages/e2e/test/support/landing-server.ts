import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A foreign site that records the pages that browsers return to. */
export interface LandingServer {
  readonly origin: string;
  /** Opened pages, oldest first. */
  readonly visits: URL[];
  readonly close: () => void;
}

/** Starts a site with a separate origin. */
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

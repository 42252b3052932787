import { createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/** Returns true if nothing listens on a port. */
export const isPortFree = (port: number, host = LOOPBACK): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });

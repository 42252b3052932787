import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';

export interface Listening {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a server on a free loopback port. `stop` also closes open connections. */
export const listen = async (listener: RequestListener): Promise<Listening> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

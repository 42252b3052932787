import { createServer } from 'node:net';
import { PortTakenError } from './errors.ts';

const LOOPBACK = '127.0.0.1';
const TRIES_MAX = 5;

/** Returns a TCP port that is free on the loopback address now, chosen by the kernel. */
export const freePort = (): Promise<number> => bindOnce(0, LOOPBACK);

/** Returns true if nothing listens on a port. */
export const isPortFree = (port: number, host = LOOPBACK): Promise<boolean> =>
  bindOnce(port, host).then(
    () => true,
    () => false,
  );

/**
 * Starts a server on the wanted port, otherwise on a free one, and on another one if that is taken before the server binds it.
 * Throws PortTakenError if the wanted port is taken, and everything that `start` throws.
 */
export const startOnPort = async <Server>(
  wanted: number | undefined,
  name: string,
  start: (port: number) => Promise<Server>,
): Promise<Server> => {
  if (wanted !== undefined && !(await isPortFree(wanted))) throw new PortTakenError(wanted, name);
  for (let tries = 1; ; tries += 1) {
    const port = wanted ?? (await freePort());
    try {
      return await start(port);
    } catch (error) {
      if (await isPortFree(port)) throw error;
      if (wanted !== undefined || tries === TRIES_MAX) throw new PortTakenError(port, name);
    }
  }
};

const bindOnce = (port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });

import { createServer } from 'node:net';
import { PortTakenError } from './errors.ts';

const LOOPBACK = '127.0.0.1';
const TRIES_MAX = 5;

/** A TCP port that is free on the loopback address now, chosen by the kernel. */
export const freePort = async (): Promise<number> => {
  return await bindOnce(0);
};

/** Whether nothing listens on this port. */
export const isPortFree = async (port: number, host = LOOPBACK): Promise<boolean> => {
  try {
    await bindOnce(port, host);
    return true;
  } catch {
    return false;
  }
};

/**
 * Starts a server on the wanted port, else on a free one, and on another where somebody takes it before the server does.
 * Throws PortTakenError for a wanted port that is not free, and what `start` throws.
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

const bindOnce = (port: number, host = LOOPBACK): Promise<number> => {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
};

import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** A TCP port that is free on the loopback address now, chosen by the kernel. */
export async function freePort(): Promise<number> {
  return await bindOnce(0);
}

/** Whether nothing listens on this loopback port. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await bindOnce(port);
    return true;
  } catch {
    return false;
  }
}

function bindOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}

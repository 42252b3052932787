import { PortTakenError, StartError } from './errors.ts';
import { claimPortBlock, isPortFree } from './port-block.ts';

const TRIES_MAX = 5;
let ownPorts: Promise<() => Promise<number>> | undefined;

/**
 * Returns a TCP port that is free on the loopback address now. No call of this or another process gets it too before its
 * server binds it. Throws StartError.
 */
export const freePort = async (): Promise<number> => {
  ownPorts ??= openPorts();
  return await (await ownPorts)();
};

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

/** Claims a block for the life of this process. Its ports are given in turn, so that each rests as long as possible. */
const openPorts = async (): Promise<() => Promise<number>> => {
  const { ports, isAvailable } = await claimPortBlock();
  let given = 0;
  return async () => {
    for (let tries = 0; tries < ports.length; tries += 1) {
      const port = ports[given % ports.length] ?? 0;
      given += 1;
      if (await isAvailable(port)) return port;
    }
    throw new StartError(`This process has no free port left. All ${ports.length} of its block are taken.`);
  };
};

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { PortTakenError, StartError } from './errors.ts';

const LOOPBACK = '127.0.0.1';

/** Returns true if nothing listens on a port. */
export const isPortFree = (port: number, host = LOOPBACK): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });

/** Below the ephemeral ports of Linux and macOS, so that no outgoing connection takes a port before its server does. */
const RANGE_START = 20_000;
const RANGE_SIZE = 10_000;
/** More than the processes of a stack have. The first port of a block is its guard. */
const BLOCK_SIZE = 100;
const BLOCK_TRIES_MAX = 200;

/** Consecutive ports that no other process claims until they are released. */
export interface PortBlock {
  /** All but the guard. */
  readonly ports: readonly number[];
  /** Returns true if a port is free, and in no block of another process. */
  readonly isAvailable: (port: number) => Promise<boolean>;
  readonly release: () => void;
}

/**
 * Claims a block of ports: that of the previous ports if no other process has it, otherwise any. A chosen port is bound
 * later, so without the claim two processes could choose the same. Throws StartError.
 */
export const claimPortBlock = async (previous: readonly number[] = []): Promise<PortBlock> => {
  const wanted = previous.find(isInRange);
  for (let tries = 0; tries < BLOCK_TRIES_MAX; tries += 1) {
    const near = tries === 0 && wanted !== undefined ? wanted : RANGE_START + Math.floor(Math.random() * RANGE_SIZE);
    const start = blockOf(near);
    const guard = await guardBlock(start);
    if (guard === undefined) continue;
    return {
      ports: Array.from({ length: BLOCK_SIZE - 1 }, (_, index) => start + 1 + index),
      isAvailable: async (port) => (await isUnclaimed(port, start)) && (await isPortFree(port)),
      release: () => void guard.close(),
    };
  }
  throw new StartError('No free block of ports was found. Stop another copy.');
};

const isInRange = (port: number): boolean => port >= RANGE_START && port < RANGE_START + RANGE_SIZE;

const blockOf = (port: number): number => port - (port % BLOCK_SIZE);

const isUnclaimed = async (port: number, ownStart: number): Promise<boolean> => {
  const start = blockOf(port);
  if (!isInRange(port)) return true;
  return port !== start && (start === ownStart || (await isPortFree(start)));
};

/** Resolves to nothing if another process has the block. */
const guardBlock = async (start: number): Promise<Server | undefined> => {
  const guard = createServer((socket) => socket.destroy()).listen({ port: start, host: LOOPBACK, exclusive: true });
  // The claim alone does not keep the process alive.
  guard.unref();
  return await once(guard, 'listening').then(
    () => guard,
    () => undefined,
  );
};

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

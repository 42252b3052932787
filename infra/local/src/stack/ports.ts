import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { isPortFree, StartError } from '@svc/embedded-servers';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { readPort } from './settings.ts';

/** Below the ephemeral ports of Linux and macOS, so that a restarted process finds its port free. */
const RANGE_START = 20_000;
const RANGE_SIZE = 10_000;
/** More than the processes of a stack have. The first port of a block is its guard. */
const BLOCK_SIZE = 50;
const TRIES_MAX = 200;

export interface PortRequest {
  /** Such as `auth` or `auth-internal`. The variable `AUTH_INTERNAL_PORT` sets the latter. */
  readonly names: readonly string[];
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Ports of a stack, which no other stack chooses until they are released. */
export interface ClaimedPorts {
  readonly ports: ReadonlyMap<string, number>;
  readonly release: () => void;
}

/**
 * Chooses a free port for each name: the one that is set, otherwise its previous one, otherwise one of a block that is
 * claimed until `release`. A chosen port is bound seconds later, so without the claim two starting stacks could choose the
 * same. Throws StartError.
 */
export const choosePorts = async (request: PortRequest): Promise<ClaimedPorts> => {
  const remembered = readRemembered(request.file);
  const block = await claimBlock([...remembered.values()]);
  try {
    const ports = new Map<string, number>();
    for (const name of request.names) {
      ports.set(name, await choosePort(name, { ...request, remembered, taken: ports, blockStart: block.start }));
    }
    // A part that is off in this start finds its ports again in a later one.
    const kept = Object.fromEntries([...remembered, ...ports]);
    writeFileAtomically(request.file, `${JSON.stringify(kept, null, 2)}\n`);
    return { ports, release: block.release };
  } catch (error) {
    block.release();
    throw error;
  }
};

/** Claims the block of the previous ports if no other stack has it, otherwise any. */
const claimBlock = async (previous: readonly number[]): Promise<{ start: number; release: () => void }> => {
  const wanted = previous.find((port) => port >= RANGE_START && port < RANGE_START + RANGE_SIZE);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const near = tries === 0 && wanted !== undefined ? wanted : RANGE_START + Math.floor(Math.random() * RANGE_SIZE);
    const start = blockOf(near);
    const guard = await listenOn(start);
    if (guard !== undefined) return { start, release: () => void guard.close() };
  }
  throw new StartError('No free block of ports was found. Stop another copy.');
};

const blockOf = (port: number): number => port - (port % BLOCK_SIZE);

const listenOn = async (port: number): Promise<Server | undefined> => {
  const guard = createServer((socket) => socket.destroy()).listen({ port, host: '127.0.0.1', exclusive: true });
  // The claim alone does not keep the process alive.
  guard.unref();
  return await once(guard, 'listening').then(
    () => guard,
    () => undefined,
  );
};

const portVariable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_PORT`;

const choosePort = async (
  name: string,
  options: PortRequest & {
    remembered: ReadonlyMap<string, number>;
    taken: ReadonlyMap<string, number>;
    blockStart: number;
  },
): Promise<number> => {
  const variable = portVariable(name);
  const wanted = options.env[variable];
  if (wanted) {
    const port = readPort(variable, wanted);
    if (await isPortFree(port)) return port;
    throw new StartError(`Port ${port} (${variable}) is taken by another program. Set ${variable} to a free one.`);
  }
  const taken = new Set(options.taken.values());
  const before = options.remembered.get(name);
  if (before !== undefined && !taken.has(before) && (await isUnclaimed(before, options.blockStart))) return before;
  // Other parts return to their previous ports.
  const others = new Set(options.remembered.values());
  for (let port = options.blockStart + 1; port < options.blockStart + BLOCK_SIZE; port += 1) {
    if (!taken.has(port) && !others.has(port) && (await isPortFree(port))) return port;
  }
  throw new StartError(`No free port was found for ${name}. Set ${variable} to one.`);
};

/** Returns true if a port is free, and in no block of another stack. */
const isUnclaimed = async (port: number, ownBlock: number): Promise<boolean> => {
  const block = blockOf(port);
  return port !== block && (await isPortFree(port)) && (block === ownBlock || (await isPortFree(block)));
};

const readRemembered = (file: string): ReadonlyMap<string, number> => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return new Map();
  const entries = Object.entries(json).filter((entry): entry is [string, number] => Number.isInteger(entry[1]));
  return new Map(entries);
};

import { claimPortBlock, isPortFree, type PortBlock, StartError } from '@svc/embedded-servers';
import { readJsonFile, writeFileAtomically } from './atomic-file.ts';
import { readPort } from './settings.ts';

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
 * claimed until `release`. Throws StartError.
 */
export const choosePorts = async (request: PortRequest): Promise<ClaimedPorts> => {
  const remembered = readRemembered(request.file);
  const block = await claimPortBlock([...remembered.values()]);
  try {
    const ports = new Map<string, number>();
    for (const name of request.names) {
      ports.set(name, await choosePort(name, { ...request, remembered, taken: ports, block }));
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

const portVariable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_PORT`;

const choosePort = async (
  name: string,
  options: PortRequest & {
    remembered: ReadonlyMap<string, number>;
    taken: ReadonlyMap<string, number>;
    block: PortBlock;
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
  if (before !== undefined && !taken.has(before) && (await options.block.isAvailable(before))) return before;
  // Other parts return to their previous ports.
  const others = new Set(options.remembered.values());
  for (const port of options.block.ports) {
    if (!taken.has(port) && !others.has(port) && (await options.block.isAvailable(port))) return port;
  }
  throw new StartError(`No free port was found for ${name}. Set ${variable} to one.`);
};

const readRemembered = (file: string): ReadonlyMap<string, number> => {
  const json = readJsonFile(file);
  if (typeof json !== 'object' || json === null) return new Map();
  const entries = Object.entries(json).filter((entry): entry is [string, number] => Number.isInteger(entry[1]));
  return new Map(entries);
};
